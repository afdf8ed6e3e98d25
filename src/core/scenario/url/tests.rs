use super::*;
use crate::core::hardware::System;
use crate::core::scenario::{
    Degrees, Failure, FailureKind, HeadSplit, Named, Parity, Recompute, presets,
};
use crate::core::workload::Model;
use proptest::prelude::*;

fn scenario_of(link: &str) -> Scenario {
    decode(link).unwrap().scenario
}

fn error(link: &str) -> String {
    let line = decode(link).unwrap_err().to_string();
    assert!(!line.contains('\n'), "{line}");
    line
}

#[test]
fn the_readable_example() {
    let link = decode("#/rack?sys=gb300-nvl72&model=llama3-405b&fail=0.3,5.17").unwrap();
    assert_eq!(link.page, "rack");
    let places: Vec<(u32, u32)> = link
        .scenario
        .failures
        .iter()
        .map(|failure| (failure.domain, failure.gpu))
        .collect();
    assert_eq!(places, [(0, 3), (5, 17)]);
    let file = r#"{"version": 1, "system": "gb300-nvl72", "model": "llama3-405b",
                   "failures": [{"domain": 0, "gpu": 3}, {"domain": 5, "gpu": 17}]}"#;
    assert_eq!(link.scenario, Scenario::from_json(file).unwrap());
}

#[test]
fn a_link_without_hardware_is_the_opening_scene() {
    assert_eq!(scenario_of(""), Scenario::default_scene());
    assert_eq!(scenario_of("#/rack"), Scenario::default_scene());
    let changed = scenario_of("#/rack?tp=64&fail=0.3");
    assert_eq!(
        (changed.layout.tp, changed.layout.pp, changed.policy.parity),
        (64, 2, Parity::OneDegree)
    );
    // What it leaves out is the opening scene's, not what would follow from its own fields.
    let mut scene = Scenario::default_scene();
    scene.layout.tp = 36;
    assert_eq!(scenario_of("#/rack?tp=36"), scene);
    let file = serde_json::to_value(&scene).unwrap();
    let fields = ["layout", "policy"].map(|section| file[section].as_object().unwrap().len());
    assert_eq!(parameters(OPENING).unwrap().len(), fields[0] + fields[1]);
}

#[test]
fn links_are_short_and_say_what_differs() {
    let scene = Scenario::default_scene();
    assert_eq!(
        encode("rack", &scene, &[]),
        "#/rack?v=1&sys=gb300-nvl72&model=llama3-405b&pp=2&seq=32768&parity=one-degree&hot=2"
    );
    let mut scene = presets()[3].scenario.clone();
    let fail = |domain, gpu| Failure::hardware(domain, gpu);
    scene.failures = vec![fail(0, 3), fail(0, 4), fail(0, 5), fail(2, 1)];
    scene.failures.push(Failure {
        kind: FailureKind::Slow,
        speed: 0.8,
        ..fail(7, 0)
    });
    scene.failures.push(Failure {
        kind: FailureKind::Software,
        blast_radius: Some(8),
        ..fail(9, 0)
    });
    let view = [
        ("embed".to_string(), "1".to_string()),
        ("sel".to_string(), "ntp".to_string()),
    ];
    let link = encode("rack", &scene, &view);
    assert_eq!(
        link,
        "#/rack?v=1&sys=h100-nvl8&model=llama3-70b&dp=32&gbs=512&fail=0.3-5,2.1,7.0:slow0.8,9.0:swx8&embed=1&sel=ntp"
    );
    let read = decode(&link).unwrap();
    assert!(read.embed() && read.view("sel") == Some("ntp") && read.view("theme").is_none());
    assert_eq!(read.scenario, scene);
}

#[test]
fn own_hardware_is_a_preset_and_what_differs() {
    let mut scene = Scenario::default_scene();
    let mut system = scene.system.resolve().unwrap();
    system.id = "my rack & more".into();
    system.domain_size = 144;
    system.gpu.fp8_tflops = None;
    scene.system = Named::Custom(Box::new(system));
    let link = encode("rack", &scene, &[]);
    assert!(link.contains("sys=gb300-nvl72&sys.domain_size=144&sys.gpu.fp8_tflops=none&sys.id=my%20rack%20%26%20more&"), "{link}");
    assert_eq!(scenario_of(&link), scene);
    let plain =
        scenario_of("#/rack?sys=h100-nvl8&model=llama3-8b&model.layers=16&model.gated=false");
    assert_eq!(plain.model.resolve().unwrap().layers, 16);
}

#[test]
fn broken_links_say_what_is_wrong() {
    for (link, start) in [
        ("#/rack?sys=h900", "system: \"h900\" is not allowed"),
        (
            "#/rack?fail=99999.1",
            "failures[0].domain: 99999 is not allowed, expected 0 to 17",
        ),
        (
            "#/rack?fail=-1.x",
            "fail: \"-1.x\" is not allowed, expected DOMAIN.GPU",
        ),
        ("#/rack?fail=0.1-0", "fail: \"0.1-0\" is not allowed"),
        (
            "#/rack?fail=0.0-4294967295",
            "fail: \"0.0-4294967295\" is not allowed",
        ),
        (
            "#/rack?fail=0.3:slowNaN",
            "fail: \"0.3:slowNaN\" is not allowed",
        ),
        (
            "#/rack?nonsense=1",
            "\"nonsense\": unknown field, expected one of v, sys, model, tp",
        ),
        ("#/rack?v=999", "v: \"999\" is not allowed, expected 1"),
        (
            "#/rack?tp=1e99",
            "layout.tp: 1e+99 is not allowed, expected 1 to 72",
        ),
        (
            "#/rack?tp=two",
            "layout.tp: \"two\" is not allowed, expected 1 to 72",
        ),
        (
            "#/rack?tp=8&tp=9",
            "\"tp\": given twice is not allowed, expected once",
        ),
        (
            "#/rack?sp=yes",
            "sp: \"yes\" is not allowed, expected 0 or 1",
        ),
        (
            "#/rack?model=%FF",
            "link: \"%FF\" is not allowed, expected percent-encoded UTF-8",
        ),
        ("#/rack?sys.domain=3", "system.domain: unknown field"),
        (
            "#/rack?sys.gpu.tdp_w=hot",
            "system.gpu.tdp_w: \"hot\" is not allowed, expected a number",
        ),
        ("#/rack?sys.name.x=1", "sys.name.x: \"1\" is not allowed"),
        (
            "#/rack?faults=%7B",
            "faults: \"{\" is not allowed, expected JSON",
        ),
        ("#/rack?faults=3", "faults: 3 is not allowed"),
    ] {
        let line = error(link);
        assert!(line.starts_with(start), "{link}: {line}");
    }
    assert!(error(&"x".repeat(MAX_LINK_BYTES + 1)).starts_with("link: 1000001 bytes"));
}

/// Pieces that are nearly right, and characters that are not.
fn nearly_links() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "#/",
        "#",
        "rack",
        "fleet",
        "?",
        "&",
        "=",
        "sys=",
        "model=",
        "sys.",
        "model.",
        "domain_size=",
        "gpu.",
        "fail=",
        "tp=",
        "pp=",
        "dp=",
        "gbs=",
        "seq=",
        "v=1",
        "faults=",
        "degrees=",
        "cap=",
        "embed=1",
        ",",
        ".",
        "-",
        ":",
        "x",
        ":sw",
        ":slow",
        "%",
        "%2",
        "%FF",
        "0.3",
        "-1",
        "1e99",
        "NaN",
        "{}",
        "none",
        "gb300-nvl72",
        "h100-nvl8",
        "llama3-405b",
        "llama3-8b",
        "4294967296",
        "1000000",
    ]);
    let piece = prop_oneof![8 => pieces.prop_map(String::from), 1 => "\\PC{0,3}"];
    prop::collection::vec(piece, 0..16).prop_map(|pieces| pieces.concat())
}

/// Scenarios that use every parameter.
fn any_scenario() -> impl Strategy<Value = Scenario> {
    let hardware = (
        0usize..8,
        0usize..6,
        any::<bool>(),
        any::<bool>(),
        2u32..600,
    );
    let layout = (
        1u32..80,
        1u32..6,
        1u32..9,
        1u32..3,
        1u32..3,
        1u32..5,
        1u32..9,
        1u32..100_000,
    );
    let switches = (
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
        0usize..3,
    );
    let policy = (
        1.0f64..1.3,
        1.0f64..1.3,
        0u32..9,
        0u32..5,
        0u32..5,
        1u32..9,
        prop::collection::vec(1u32..80, 0..4),
    );
    let hits = prop::collection::vec(
        (
            any::<u32>(),
            any::<u32>(),
            0u32..5,
            0.05f64..1.0,
            prop::option::of(1u32..9),
        ),
        0..12,
    );
    (hardware, layout, switches, policy, hits, any::<bool>()).prop_filter_map("valid", |(hardware, layout, switches, policy, hits, faults)| {
        let (system, model, own_system, own_model, size) = hardware;
        let mut system: System = crate::core::hardware::systems().get(system)?.clone();
        let mut model: Model = crate::core::workload::models().get(model)?.clone();
        let mut scenario = Scenario::default_scene();
        scenario.system = Named::Preset(system.id.clone());
        if own_system {
            system.domain_size = size;
            system.tray_gpus = 1 + size % 4;
            system.gpu.tdp_w *= 1.1;
            system.name = "own & only ? % #".into();
            scenario.system = Named::Custom(Box::new(system.clone()));
        }
        scenario.model = Named::Preset(model.id.clone());
        if own_model {
            model.layers += size % 7;
            model.published_parameters = None;
            scenario.model = Named::Custom(Box::new(model));
        }
        let (tp, pp, dp, cp, vp, mbs, local, seq) = layout;
        let l = &mut scenario.layout;
        (l.tp, l.pp, l.dp, l.cp, l.vp, l.microbatch, l.seq) = (1 + tp % system.domain_size, pp, dp, cp, vp, mbs, seq);
        l.global_batch = dp * mbs * local;
        (l.sequence_parallel, l.overlap) = (switches.0, switches.1);
        l.recompute = *[Recompute::None, Recompute::Selective, Recompute::Full].get(switches.5)?;
        let p = &mut scenario.policy;
        p.fixed_minibatch = switches.2;
        p.parity = if switches.3 { Parity::OneDegree } else { Parity::PerReplica };
        p.heads = if switches.4 { HeadSplit::Even } else { HeadSplit::Whole };
        let slots = system.domain_size / l.tp;
        (p.boost_cap, p.rack_headroom) = (policy.0, policy.1);
        p.in_domain_spares = policy.2.min(system.domain_size - slots);
        (p.spare_domains, p.hot_spare_domains) = (policy.3, policy.4);
        p.blast_radius = policy.5.min(system.domain_size);
        let degrees: Vec<u32> = policy.6.into_iter().filter(|&degree| degree <= l.tp).collect();
        p.degrees = if degrees.is_empty() { Degrees::Any } else { Degrees::List(degrees) };
        if faults {
            scenario.faults = Some(serde_json::json!({"restart_min": 10.25, "strike": "always", "causes": [{"name": "a&b=c"}]}));
        }
        let placement = scenario.resolve().ok()?.placement;
        let domains = placement.domains + placement.spare_domains;
        scenario.failures = hits
            .into_iter()
            .map(|(domain, gpu, kind, speed, blast)| {
                let kind = match kind {
                    0..=2 => FailureKind::Hardware,
                    3 => FailureKind::Software,
                    _ => FailureKind::Slow,
                };
                let speed = if kind == FailureKind::Slow { speed } else { 1.0 };
                let blast_radius = blast.map(|radius| radius.min(system.domain_size));
                Failure { domain: domain % domains, gpu: gpu % system.domain_size, kind, speed, blast_radius }
            })
            .collect();
        scenario.resolve().ok().map(|job| job.scenario)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, max_shrink_iters: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn no_text_breaks_the_reader(link in nearly_links()) {
        match decode(&link) {
            Ok(read) => { read.scenario.resolve().unwrap(); }
            Err(error) => prop_assert!(!error.to_string().contains('\n')),
        }
    }

    #[test]
    fn random_text_is_no_link(link in "\\PC{0,80}") {
        let _ = decode(&link);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, max_global_rejects: 100_000, ..ProptestConfig::default() })]

    #[test]
    fn links_and_files_survive_a_round_trip(scenario in any_scenario()) {
        let link = encode("rack", &scenario, &[]);
        prop_assert!(link.is_ascii());
        let read = decode(&link).map_err(|error| TestCaseError::fail(format!("{link}\n{error}")))?;
        prop_assert_eq!(&read.scenario, &scenario);
        prop_assert_eq!(encode("rack", &read.scenario, &[]), link);
        prop_assert_eq!(Scenario::from_json(&scenario.to_json()).unwrap(), scenario);
    }
}
