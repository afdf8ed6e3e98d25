use super::super::{FaultEvent, Faults, Site, Trace};
use super::*;
use crate::core::scenario::FailureKind;

const NVL72: Site = Site {
    domains: 8,
    spare_domains: 0,
    domain_size: 72,
    tray_gpus: 4,
    blast_radius: 1,
};
const NVL8: Site = Site {
    domains: 400,
    spare_domains: 0,
    domain_size: 8,
    tray_gpus: 8,
    blast_radius: 8,
};

fn example(name: &str) -> FailureLog {
    let path = format!("{}/assets/examples/{name}", env!("CARGO_MANIFEST_DIR"));
    read(
        std::io::BufReader::new(std::fs::File::open(path).unwrap()),
        false,
    )
    .unwrap()
}

fn strict(text: &str) -> String {
    read(text.as_bytes(), false)
        .map_or_else(|error| error.to_string(), |log| format!("{:?}", log.report))
}

fn lenient(text: &[u8]) -> FailureLog {
    read(text, true).unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn the_examples_map_onto_an_nvl72_cluster() {
    for (name, site) in [
        ("failures.csv", NVL72),
        ("failures-infinitehbd.json", NVL72),
        ("failures-kernel.log", NVL8),
    ] {
        let log = example(name);
        let mapped = log.map(&site, &Faults::default(), 1, None);
        insta::assert_json_snapshot!(
            name,
            serde_json::json!({"read": log.report, "map": mapped.report,
            "events": mapped.trace.events.iter().map(|event| format!("{:.3} h D{} GPU {}+{} for {:.2} h: {}", event.time.hours(),
                event.domain, event.first, event.gpus, event.repair.hours(), mapped.trace.causes[usize::from(event.cause)].name)).collect::<Vec<_>>()})
        );
    }
}

#[test]
fn broken_lines_are_named_one_line_each() {
    let header = "time_h,domain,gpu,kind,duration_h\n1,0,0,hardware,5\n";
    let rows = [
        "-1,0,0,hardware,1",
        "2,0,0,hardware,-3",
        "x,0,0,,",
        "2,-1,0,,",
        "2,0,9999,,",
        "2,,3,,",
        "2,0,0,meltdown,",
        "nan,0,0,,",
        "1e300,0,0,,",
    ];
    let mut found: Vec<String> = rows
        .iter()
        .map(|row| strict(&format!("{header}\n{row}\n")))
        .collect();
    found.push(strict("time_h,gpu\n1,2\n"));
    found.push(strict(""));
    found.push(strict("hello\nworld\n"));
    found.push(strict("[{\"node_id\": 3}]"));
    found.push(strict("[{\"node_id\": \"a\", \"event_time\": 1, \"event_type\": \"fault_end\", \"fault_type\": null}]"));
    found.push(strict("[\n{\"node_id\": \"a\", \"event_time\""));
    found.push(strict(
        "yesterday node kernel: NVRM: Xid (PCI:0000:3b:00): 79, x",
    ));
    found.push(strict(
        "Mar  1 00:00:00 node kernel: NVRM: Xid (PCI:0000:3b:00): x",
    ));
    assert!(found.iter().all(|line| !line.contains('\n')));
    insta::assert_snapshot!(found.join("\n"));
}

#[test]
fn lenient_reading_skips_broken_lines_and_counts_them() {
    let text = b"time_h,domain,gpu,kind,duration_h\n1,0,0,hardware,5\n2,0,1,hardware,-5\n\xff\xfe,0,0\n0.5,1,2,hardware,5\n1,0,0,hardware,8\n2,77,0,,\n";
    let log = lenient(text);
    assert_eq!(
        (
            log.report.lines,
            log.report.used,
            log.report.skipped,
            log.report.out_of_order
        ),
        (7, 5, 2, 1)
    );
    assert_eq!(
        log.report.problems[0],
        Problem {
            line: 3,
            message: "duration_h: \"-5\" is not allowed, expected 0 to 876600 hours".into()
        }
    );
    assert_eq!(log.report.problems[1].line, 4);
    let mapped = log.map(&NVL72, &Faults::default(), 1, None);
    assert_eq!(
        (
            mapped.report.used_failures,
            mapped.report.unknown_failures,
            mapped.report.merged_failures
        ),
        (2, 1, 1)
    );
    assert_eq!(mapped.report.domains_needed, 78);
    // The overlapping outage of GPU 0 lasts until hour 9; detection takes 3 of its minutes.
    let first = mapped
        .trace
        .events
        .iter()
        .find(|event| event.domain == 0)
        .unwrap();
    assert!((first.repair.hours() - (8.0 - 0.05)).abs() < 1e-9);
    assert!(read(&text[..], false).is_err());
}

#[test]
fn gzip_reads_the_same_in_any_chunks_and_damage_is_named() {
    let plain = std::fs::read(format!(
        "{}/assets/examples/failures.csv",
        env!("CARGO_MANIFEST_DIR")
    ))
    .unwrap();
    let packed = gzip(&plain);
    let expected = lenient(&plain);
    for chunk in [1, 7, 1000] {
        let mut reader = LogReader::new(false);
        packed
            .chunks(chunk)
            .for_each(|bytes| reader.push(bytes).unwrap());
        assert_eq!(reader.finish().unwrap(), expected);
    }
    let mut twice = packed.clone();
    twice.extend(gzip(b"200,1,1,hardware,1\n"));
    assert_eq!(lenient(&twice).report.used, expected.report.used + 1);
    let damaged = read(&packed[..packed.len() - 20], true)
        .unwrap_err()
        .to_string();
    assert!(
        damaged.contains("gzip") && damaged.starts_with("log line"),
        "{damaged}"
    );
}

#[test]
fn kernel_messages_of_one_incident_count_once() {
    let line = |second: u32, xid: u32| {
        format!(
            "Mar  1 00:{:02}:{:02} a kernel: NVRM: Xid (PCI:0000:3b:00): {xid}, x\n",
            second / 60,
            second % 60
        )
    };
    let text: String = [
        (0, 13),
        (5, 48),
        (6, 48),
        (9, 79),
        (12, 48),
        (400, 95),
        (401, 999),
    ]
    .map(|(second, xid)| line(second, xid))
    .concat();
    let log = lenient(text.as_bytes());
    let causes: Vec<&str> = log
        .outages
        .iter()
        .map(|outage| log.causes[usize::from(outage.cause)].as_str())
        .collect();
    assert_eq!(
        causes,
        [
            "Xid 48: double-bit ECC error",
            "Xid 79: fallen off the bus",
            "Xid 95: uncontained memory error"
        ]
    );
    assert_eq!((log.report.ignored, log.report.unknown), (1, 1));
    assert_eq!(log.report.problems[0].message, "Xid 999 is not known");
    let mapped = log.map(&NVL8, &Faults::default(), 1, None);
    assert_eq!(mapped.report.drawn_durations, 1);
    assert_eq!(
        mapped
            .trace
            .events
            .iter()
            .filter(|event| mapped.trace.causes[usize::from(event.cause)].takes_out)
            .count(),
        1
    );
}

#[test]
fn nodes_fill_domains_in_order_of_appearance() {
    let event = |node: &str, day: f64| {
        format!(
            "{{\"node_id\": \"{node}\", \"event_time\": {day}, \"event_type\": \"fault_start\", \"fault_type\": null}}"
        )
    };
    let text = format!(
        "[{}, {}, {}]",
        event("b", 1.0),
        event("a", 2.0),
        event("c", 3.0)
    );
    let site = Site {
        domain_size: 72,
        tray_gpus: 8,
        blast_radius: 1,
        ..NVL72
    };
    let mapped = lenient(text.as_bytes()).map(&site, &Faults::default(), 1, None);
    let places: Vec<(u32, u16, u16)> = mapped
        .trace
        .events
        .iter()
        .map(|event| (event.domain, event.first, event.gpus))
        .collect();
    assert_eq!(places, [(0, 0, 8), (0, 8, 8), (0, 16, 8)]);
    assert_eq!(mapped.report.unfinished, 3);
    // Servers larger than a domain span several.
    let small = Site {
        domain_size: 4,
        tray_gpus: 8,
        ..site
    };
    let mapped = lenient(text.as_bytes()).map(&small, &Faults::default(), 1, None);
    assert_eq!(mapped.trace.events.len(), 6);
}

#[test]
fn a_drawn_trace_comes_back_from_its_own_csv() {
    let site = Site {
        domains: 64,
        spare_domains: 2,
        domain_size: 72,
        tray_gpus: 4,
        blast_radius: 4,
    };
    for seed in 0..5 {
        let faults = Faults {
            rate_multiplier: 20.0,
            ..Faults::default()
        };
        let trace = Trace::draw(&faults, &site, seed, 15.0);
        let log = read(trace.to_csv(&site).as_bytes(), false).unwrap();
        let back = log.map(&site, &faults, 9, Some(15.0)).trace;
        assert!(trace.events.len() > 500 && back.horizon == trace.horizon);
        assert_eq!(trace.events.len(), back.events.len());
        for (event, found) in trace.events.iter().zip(&back.events) {
            let place = |event: &FaultEvent| (event.time, event.domain, event.first, event.gpus);
            assert_eq!(place(event), place(found));
            let (cause, read) = (
                &trace.causes[usize::from(event.cause)],
                &back.causes[usize::from(found.cause)],
            );
            assert_eq!(
                (cause.name.as_str(), cause.detect, cause.kind),
                (read.name.as_str(), read.detect, read.kind)
            );
            assert!(found.repair.0.abs_diff(event.repair.0) <= 1);
        }
    }
}

/// The published trace: 400 servers, 348 days, 584 faults, 9.26 servers down on average, 35 at most.
#[test]
fn the_infinitehbd_trace_has_its_published_figures() {
    let path = format!(
        "{}/../shared/traces/infinitehbd_fault_trace.json",
        env!("CARGO_MANIFEST_DIR")
    );
    let alternative = format!(
        "{}/../../shared/traces/infinitehbd_fault_trace.json",
        env!("CARGO_MANIFEST_DIR")
    );
    let Some(file) = [path, alternative]
        .iter()
        .find_map(|path| std::fs::File::open(path).ok())
    else {
        println!(
            "notice: ../shared/traces/infinitehbd_fault_trace.json is not here, the test of it is left out"
        );
        return;
    };
    let log = read(std::io::BufReader::new(file), false).unwrap();
    assert_eq!(
        (log.report.format, log.report.used, log.report.skipped),
        (Format::InfiniteHbd, 1168, 0)
    );
    let report = log.map(&NVL8, &Faults::default(), 1, None).report;
    assert_eq!(
        (
            report.used_failures + report.merged_failures,
            report.unfinished,
            report.merged_failures
        ),
        (584, 0, 2)
    );
    assert!(
        (report.mean_units_down - 9.26).abs() < 0.005 && report.max_units_down == 35,
        "{report:?}"
    );
    assert!((report.span_h / 24.0 - 348.98).abs() < 0.01);
    assert!(
        log.outages
            .iter()
            .all(|outage| outage.kind != FailureKind::Slow)
    );
}
