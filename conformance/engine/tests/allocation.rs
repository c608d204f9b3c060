// SPDX-License-Identifier: GPL-2.0-or-later
//! No allocation per packet: over hundreds of thousands of packets, the allocator is called a few
//! times per call and per interval at most.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use x25shark_engine::run::Run;

struct Counting;
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn packets_cost_no_allocation() {
    let mut called = Run::responder(r#"{"listen":"127.0.0.1:0"}"#).unwrap();
    let mut calling = Run::caller(&format!(
        r#"{{"connect":"127.0.0.1:{}","calls":8,"circuits":8,"messages":1000,"window":7,
        "message_length":[4096,4096],"depth":3}}"#,
        called.port()
    ))
    .unwrap();
    while calling.snapshot().0.data_packets_received < 20_000 {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let before = ALLOCATIONS.load(Relaxed);
    let from = calling.snapshot().0.data_packets_received;
    while !calling.is_finished() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let a = calling.join().unwrap();
    let made = ALLOCATIONS.load(Relaxed) - before;
    called.stop();
    called.join().unwrap();
    let packets = a.total.data_packets_received - from;
    assert_eq!(a.total.data_packets_received, 8 * 1000 * 32);
    assert!(packets > 50_000);
    assert!(made < packets / 200, "{made} allocations for {packets} packets each way");
}
