// SPDX-License-Identifier: GPL-2.0-or-later
// The values at the pointer, and names of the legend that put their lines out and back.
"use strict";
(() => {
  const plots = JSON.parse(document.getElementById("points").textContent);
  document.querySelectorAll(".plot").forEach((place, which) => {
    const drawing = place.querySelector(".drawing > svg");
    const told = place.querySelector(".told");
    const groups = [...drawing.querySelectorAll(".series")];
    const names = [...place.querySelectorAll(".legend li")];
    names.forEach((name, number) => {
      name.tabIndex = 0;
      name.role = "switch";
      name.ariaChecked = "true";
      const turn = () => {
        const out = groups[number].classList.toggle("out");
        name.ariaChecked = String(!out);
      };
      name.addEventListener("click", turn);
      name.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") {
          event.preventDefault();
          turn();
        }
      });
    });
    const nearest = (x, y) => {
      let found = null;
      let least = 40 ** 2;
      plots[which].forEach((points, number) => {
        if (groups[number].classList.contains("out")) return;
        for (const [atX, atY, words] of points) {
          const far = (atX - x) ** 2 + (atY - y) ** 2;
          if (far < least) {
            least = far;
            found = `${names[number].textContent}: ${words}`;
          }
        }
      });
      return found;
    };
    drawing.addEventListener("pointermove", (event) => {
      const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(
        drawing.getScreenCTM().inverse(),
      );
      const words = nearest(at.x, at.y);
      told.hidden = words === null;
      told.textContent = words ?? "";
    });
    drawing.addEventListener("pointerleave", () => { told.hidden = true; });
  });
})();
