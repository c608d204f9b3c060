// SPDX-License-Identifier: GPL-2.0-or-later
//! One run of calling against called side, without Python: `loopback '{caller}' '{responder}'`.
//! Prints the figures that the benchmarks compare.

use x25shark_engine::run::Run;

fn main() -> Result<(), String> {
    let mut args = std::env::args().skip(1);
    let caller = args.next().unwrap_or_else(|| r#"{"duration_ms":2000}"#.into());
    let responder = args.next().unwrap_or_else(|| "{}".into());
    let with = |json: &str, field: &str| json.replacen('{', &format!("{{{field},"), 1);
    let mut called =
        Run::responder(&with(&responder, r#""listen":"127.0.0.1:0""#).replace(",}", "}"))?;
    let connect = format!(r#""connect":"127.0.0.1:{}""#, called.port());
    let mut calling = Run::caller(&with(&caller, &connect))?;
    let a = calling.join()?;
    called.stop();
    let b = called.join()?;
    let seconds = (a.end_ns - a.start_ns) as f64 / 1e9;
    let per_second = |n: u64| n as f64 / seconds;
    println!(
        "{{\"calls_per_s\":{:.0},\"data_packets_per_s\":{:.0},\"octets_out_per_s\":{:.0},\
         \"octets_in_per_s\":{:.0},\"verified_b_octets_per_s\":{:.0},\"failed\":{},\
         \"integrity\":{},\"setup_p50_us\":{:.1},\"message_p50_us\":{:.1},\"cpu_a\":{:.2},\
         \"cpu_b\":{:.2}}}",
        per_second(a.measured.calls_completed),
        per_second(a.measured.data_packets_sent + a.measured.data_packets_received),
        per_second(a.measured.octets_sent),
        per_second(a.measured.octets_received),
        per_second(b.total.octets_received),
        a.total.calls_failed,
        a.total.integrity_errors() + b.total.integrity_errors(),
        a.call_setup.percentile(50.0) as f64 / 1e3,
        a.message.percentile(50.0) as f64 / 1e3,
        (a.cpu_user_ns + a.cpu_system_ns) as f64 / 1e9 / seconds,
        (b.cpu_user_ns + b.cpu_system_ns) as f64 / 1e9 / seconds,
    );
    if a.total.calls_failed > 0 {
        eprintln!("{:?} {:?}", a.failures, a.findings.first());
    }
    Ok(())
}
