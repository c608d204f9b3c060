// SPDX-License-Identifier: GPL-2.0-or-later
// Search, verdict filter, theme, and the details of a case, built when the case is opened.
// Text reaches the page through textContent only.
"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  const find = (selector, from = document) => from.querySelector(selector);
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];

  const make = (tag, className = "", ...children) => {
    const element = document.createElement(tag);
    if (className) element.className = className;
    element.append(...children.filter((child) => child !== null && child !== ""));
    return element;
  };
  const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;

  // Theme: auto, light, dark. Storage may be forbidden for a page opened from a file.
  const themes = ["auto", "light", "dark"];
  const themeButton = find("#theme");
  const setTheme = (theme) => {
    if (theme === "auto") root.removeAttribute("data-theme");
    else root.setAttribute("data-theme", theme);
    themeButton.textContent = `Theme: ${theme}`;
    try { localStorage.setItem("x25shark-theme", theme); } catch { /* not kept, then */ }
  };
  let theme = "auto";
  try { theme = localStorage.getItem("x25shark-theme") ?? "auto"; } catch { /* auto */ }
  if (!themes.includes(theme)) theme = "auto";
  setTheme(theme);
  themeButton.addEventListener("click", () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length];
    setTheme(theme);
  });

  // Copying, with the old way where the new one is forbidden.
  const copyText = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      const area = make("textarea", "unseen");
      area.value = text;
      document.body.append(area);
      area.select();
      const done = document.execCommand("copy");
      area.remove();
      return done;
    }
  };
  const copyButton = (text, what) => {
    const button = make("button", "quiet copy", "Copy");
    button.type = "button";
    button.setAttribute("aria-label", `Copy ${what}`);
    button.addEventListener("click", async () => {
      const done = await copyText(text);
      button.textContent = done ? "Copied" : "Not allowed";
      find("#said").textContent = done ? `Copied ${what}` : "The browser does not allow copying";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
    return button;
  };
  for (const place of all(".copyable")) {
    place.append(copyButton(find("code", place).textContent, "the command"));
  }

  // Expectations.
  const reading = (value) => {
    if (!value) return make("td", "dim", "no reading");
    const cell = make("td", "", make("span", value.met ? "yes" : "no", value.met ? "met" : "not met"));
    if (value.saw) cell.append(": ", value.saw);
    const place = [];
    if (value.frame !== null) place.push(`frame ${value.frame}, packet ${value.k ?? 1}`);
    if (value.offset !== null) place.push(`offset ${value.offset}`);
    if (place.length) cell.append(make("span", "place", place.join(", ")));
    return cell;
  };
  const filterLine = (label, text) => make(
    "p", "", make("span", "label", label), make("code", "", text), copyButton(text, `the ${label}`),
  );
  const expectationRows = (expectation, index) => {
    const words = make("td", "", expectation.text);
    if (expectation.preamble) words.append(" ", make("span", "tag", "preamble"));
    if (expectation.disagree) words.append(" ", make("span", "no", "the judges disagree"));
    if (expectation.clause) words.append(make("span", "clause", expectation.clause));
    const row = make(
      "tr", "", make("td", "", String(index + 1)), make("td", "", expectation.side), words,
      reading(expectation.one), reading(expectation.two),
    );
    if (isBad(expectation)) row.classList.add("bad");
    if (!expectation.filter) return [row];
    row.classList.add("has-filter");
    const fold = make(
      "details", "fold", make("summary", "", "Display filter"), filterLine("filter", expectation.filter),
    );
    const bad = row.classList.contains("bad");
    if (bad && expectation.locator && expectation.locator !== expectation.filter) {
      fold.append(filterLine("locator", expectation.locator));
    }
    const cell = make("td", "", fold);
    cell.colSpan = 4;
    const filters = make("tr", "filters", make("td"), cell);
    if (bad) filters.classList.add("bad");
    return [row, filters];
  };
  const isBad = (expectation) => !expectation.met || expectation.disagree;
  const expectationTable = (data, wanted) => {
    const heads = ["#", "At", "Expected", "Tester’s own decoder", "Wireshark"].map((name) => {
      const head = make("th", "", name);
      head.scope = "col";
      return head;
    });
    const body = make("tbody", "", ...data.expectations.flatMap(
      (expectation, index) => (wanted(expectation) ? expectationRows(expectation, index) : []),
    ));
    return make("div", "scroll", make("table", "", make("thead", "", make("tr", "", ...heads)), body));
  };

  // Ladder. A packet is [seconds, frame, k, side, sent, connection, offset, text, octets, left out].
  const dump = (digits, leftOut) => {
    const octets = digits.match(/../g) ?? [];
    const lines = [];
    for (let start = 0; start < octets.length; start += 16) {
      const row = octets.slice(start, start + 16);
      const shown = row.map((octet) => {
        const code = parseInt(octet, 16);
        return code >= 0x20 && code < 0x7f ? String.fromCharCode(code) : ".";
      }).join("");
      lines.push(`${start.toString(16).padStart(4, "0")}  ${row.join(" ").padEnd(47)}  ${shown}`);
    }
    if (leftOut) lines.push(`${plural(leftOut, "more octet")}: see the capture`);
    return lines.join("\n");
  };
  const cells = (one, when, laneA, laneB, at) => {
    const parts = [make("span", "when", when), laneA, make("span", "mid")];
    if (!one) parts.push(laneB);
    return make("span", "cells", ...parts, make("span", "at", at));
  };
  const isB = (side) => side.startsWith("B");  // B, and B2, the second destination
  const lanes = (side, content) => {
    const laneA = make("span", "lane lane-a");
    const laneB = make("span", "lane lane-b");
    (isB(side) ? laneB : laneA).append(...content);
    return [laneA, laneB];
  };
  const marksOf = (data) => {
    const marks = new Map();
    data.expectations.forEach((expectation, index) => {
      if (expectation.frame === null) return;
      const key = `${expectation.frame}.${expectation.k ?? 1}`;
      const bad = !expectation.met || expectation.disagree;
      marks.set(key, [...(marks.get(key) ?? []), { bad, number: index + 1 }]);
    });
    return marks;
  };
  const packetItem = (packet, one, marks, last, several) => {
    const [seconds, frame, k, side, sent, connection, offset, text, octets, leftOut] = packet;
    const way = isB(side) === Boolean(sent) ? "left" : "right";
    const what = make("span", "what");
    // A connection that no expectation had taken yet is at no side; its packets are in A's lane.
    if (side === "?") what.append(make("span", "tag", "side not known"), " ");
    if (side.length > 1) what.append(make("span", "tag", side), " ");
    if (several.has(side)) what.append(make("span", "tag", `TCP ${connection}`), " ");
    what.append(text);
    const found = marks.get(`${frame}.${k}`) ?? [];
    for (const mark of found) {
      what.append(make(
        "span", `mark ${mark.bad ? "no" : "yes"}`,
        mark.bad ? `✗ expectation ${mark.number}` : `✓ ${mark.number}`,
      ));
    }
    const from = sent ? `${side} to router` : `router to ${side}`;
    const [laneA, laneB] = lanes(side, [make("span", "unseen", `${from}: `), what, make("span", `arrow ${way}`)]);
    const summary = make("summary", "", cells(one, seconds.toFixed(3), laneA, laneB, `${frame}.${k}`));
    const details = make("details", `pkt ${sent ? "sent" : "got"}`, summary);
    if (found.some((mark) => mark.bad)) details.classList.add("offends");
    details.addEventListener("toggle", () => {
      if (!details.open || find(".octets", details)) return;
      const where = `Frame ${frame}, packet ${k} of the frame; connection ${connection}, offset ${offset}`;
      details.append(make("div", "octets", make("p", "", where), make("pre", "", dump(octets, leftOut))));
    });
    const items = [];
    if (last !== null && seconds - last >= 0.5) items.push(gapItem(one, `${(seconds - last).toFixed(1)} s later`));
    return [...items, make("li", "", details)];
  };
  const gapItem = (one, words) => {
    const [laneA, laneB] = lanes("A", [words]);
    return make("li", "gap", cells(one, "", laneA, laneB, ""));
  };
  const missingItems = (data, one) => data.expectations
    .map((expectation, index) => ({ expectation, number: index + 1 }))
    .filter(({ expectation }) => !expectation.met && expectation.frame === null)
    .map(({ expectation, number }) => {
      const words = `✗ expectation ${number} not met, no packet to show: ${expectation.text}`;
      const [laneA, laneB] = lanes(expectation.side, [words]);
      (isB(expectation.side) ? laneB : laneA).classList.add("here");
      return make("li", "missing", cells(one, "", laneA, laneB, ""));
    });
  const ladder = (data) => {
    const onB = (item) => Array.isArray(item) && isB(item[3]);
    // A router that is tested from both sides is shown with both, even where one of them is idle.
    const one = document.body.dataset.sides === "1" && !data.packets.some(onB);
    const marks = marksOf(data);
    const head = cells(one, "seconds", make("span", "lane-a", "A"), make("span", "lane-b", "B"), "frame.packet");
    find(".mid", head).textContent = "router";
    const list = make("ol", `ladder${one ? " one" : ""}`, make("li", "heads", head));
    // Sides with more than one TCP connection: there each packet names its connection.
    const connections = new Map();
    for (const packet of data.packets.filter(Array.isArray)) {
      connections.set(packet[3], (connections.get(packet[3]) ?? new Set()).add(packet[5]));
    }
    const several = new Set([...connections].filter(([, all]) => all.size > 1).map(([side]) => side));
    let last = null;
    for (const packet of data.packets) {
      if (Array.isArray(packet)) {
        list.append(...packetItem(packet, one, marks, last, several));
        last = packet[0];
      } else {
        list.append(gapItem(one, `${plural(packet, "packet")} not shown: see the capture`));
        last = null;
      }
    }
    list.append(...missingItems(data, one));
    return make("div", "scroll", list);
  };

  // What a closed case hides is JSON, compressed and in base 64.
  const unpack = async (text) => {
    const octets = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    const stream = new Blob([octets]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  };
  const build = async (element) => {
    const place = find(":scope > .body > .built", element);
    if (!place || place.dataset.built) return;
    place.dataset.built = "yes";
    if (typeof DecompressionStream === "undefined") {
      place.append(make("p", "dim", "This browser is too old to show more; x25shark show prints it."));
      return;
    }
    const data = await unpack(find(":scope > script", element).textContent);
    // What was not met stands next to the packets; the rest of the expectations below them.
    const bad = data.expectations.filter(isBad).length;
    const rest = data.expectations.length - bad;
    if (bad) place.append(make("h4", "", "Not met"), expectationTable(data, isBad));
    if (data.packets.length) place.append(make("h4", "", `Packets (${data.total})`), ladder(data));
    if (rest) {
      const table = expectationTable(data, (expectation) => !isBad(expectation));
      const words = bad ? `${plural(rest, "expectation")} met` : "Expectations";
      place.append(bad
        ? make("details", "fold", make("summary", "", words), table)
        : make("div", "", make("h4", "", words), table));
    }
    if (data.more) place.append(make("p", "dim", `${data.more} more in results.json`));
  };
  for (const element of all("details.case")) {
    element.addEventListener("toggle", () => { if (element.open) build(element); });
  }

  // On paper the first failures have their details; they are made before, for paper does not wait.
  const PRINTED = 50;
  const failed = all("#attention details.case").slice(0, PRINTED);
  const opened = [];
  const prepare = () => failed.forEach((element) => build(element));
  setTimeout(prepare, 200);
  window.addEventListener("beforeprint", () => {
    opened.push(...failed.filter((element) => !element.open));
    opened.forEach((element) => { element.open = true; });
  });
  window.addEventListener("afterprint", () => {
    opened.splice(0).forEach((element) => { element.open = false; });
  });

  // A link to a case opens it, and the group around it.
  const reveal = () => {
    // Identifiers hold no character that a fragment would escape (html.py makes them so).
    const name = location.hash.slice(1);
    const target = name ? document.getElementById(name) : null;
    if (!target?.matches("details.case")) return;
    if (target.hidden) showEverything();
    const group = target.closest(".group");
    if (group) group.open = true;
    target.open = true;
    build(target).then(() => {
      target.scrollIntoView({ block: "start" });
      find("summary", target).focus({ preventScroll: true });
    });
  };
  window.addEventListener("hashchange", reveal);
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href^='#case-']");
    if (link && link.hash === location.hash) reveal();
  });

  // Search and verdict filter.
  const search = find("#search");
  const chips = all(".chip");
  const groups = all(".group").map((element) => ({ element, wasOpen: null }));
  const rows = all(".case").map((element) => {
    const own = element.matches("a") ? element.textContent : "";
    const text = own || `${find("summary", element).textContent} ${find(".facts", element).textContent}`;
    return {
      element, text: text.toLowerCase(), verdict: element.dataset.verdict,
      counted: !element.matches("a"),
    };
  });
  const apply = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = new Set(chips.filter((chip) => chip.ariaPressed === "true").map((chip) => chip.dataset.verdict));
    let found = 0;
    for (const row of rows) {
      const shown = wanted.has(row.verdict) && words.every((word) => row.text.includes(word));
      row.element.hidden = !shown;
      if (shown && row.counted) found += 1;
    }
    const narrowed = words.length > 0 || wanted.size < chips.length;
    let any = false;
    for (const group of groups) {
      const has = find(".case:not([hidden])", group.element) !== null;
      group.element.hidden = !has;
      any ||= has;
      if (words.length && group.wasOpen === null) group.wasOpen = group.element.open;
      if (words.length) group.element.open = true;
      else if (group.wasOpen !== null) { group.element.open = group.wasOpen; group.wasOpen = null; }
    }
    const attention = find("#attention");
    if (attention) attention.hidden = find(".case:not([hidden])", attention) === null;
    find("#empty").hidden = any;
    const total = rows.filter((row) => row.counted).length;
    find("#found").textContent = narrowed ? `${found} of ${plural(total, "case")}` : "";
  };
  const showEverything = () => {
    search.value = "";
    for (const chip of chips) chip.ariaPressed = "true";
    apply();
  };
  let waiting = 0;
  search.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(apply, 60); });
  for (const chip of chips) {
    chip.addEventListener("click", () => {
      chip.ariaPressed = String(chip.ariaPressed !== "true");
      apply();
    });
    chip.addEventListener("dblclick", () => {  // this verdict alone
      for (const other of chips) other.ariaPressed = String(other === chip);
      apply();
    });
  }
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !event.target.matches("input, textarea")) {
      event.preventDefault();
      search.focus();
    } else if (event.key === "Escape" && event.target === search) {
      search.value = "";
      apply();
    }
  });
  find("#open-all").addEventListener("click", () => { for (const { element } of groups) element.open = true; });
  find("#close-all").addEventListener("click", () => { for (const { element } of groups) element.open = false; });
  reveal();
})();
