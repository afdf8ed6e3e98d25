use super::*;
use crate::core::{hardware::systems, workload::models};
use proptest::prelude::*;
use serde_json::json;

fn error(value: Value) -> String {
    Scenario::from_value(&value).unwrap_err().to_string()
}

fn with(key: &str, value: Value) -> Value {
    let mut scenario = json!({"version": 1, "system": "gb300-nvl72", "model": "llama3-405b"});
    scenario[key] = value;
    scenario
}

#[test]
fn three_fields_are_enough_for_every_preset_pair() {
    for system in systems() {
        for model in models() {
            let scenario = Scenario::from_value(
                &json!({"version": 1, "system": system.id, "model": model.id}),
            )
            .unwrap();
            assert_eq!(scenario.layout.tp, system.domain_size);
            assert_eq!(scenario.layout.local_batch(), 8);
            assert_eq!(Scenario::from_json(&scenario.to_json()).unwrap(), scenario);
        }
    }
}

#[test]
fn the_contracts_example_reads() {
    let text = r#"{"version": 1, "system": "gb300-nvl72", "model": "llama3-405b",
     "layout": {"tp": 64, "pp": 4, "dp": 8, "cp": 1, "vp": 1, "microbatch": 1, "global_batch": 512, "seq": 8192, "precision": "bf16"},
     "failures": [{"domain": 0, "gpu": 3}, {"domain": 5, "gpu": 17, "kind": "slow", "speed": 0.8}],
     "policy": {"degrees": "any", "parity": "per-replica", "boost_cap": 1.3, "rack_headroom": 1.3, "in_domain_spares": 8,
                "spare_domains": 0, "fixed_minibatch": false, "blast_radius": 1, "heads": "whole"},
     "faults": {"causes": [{"name": "gpu", "scope": "gpu", "mtbf_h": 50700, "weight": 0.78, "detect_min": 3, "takes_out": true,
                            "repair": {"kind": "fixed", "mean_h": 120}}],
                "checkpoint": {"every_min": 30, "takes_min": 0.5}, "restart_min": 10, "strike": "always"}}"#;
    let scenario = Scenario::from_json(text).unwrap();
    assert_eq!(scenario.failures[1].kind, FailureKind::Slow);
    assert_eq!(scenario.layout.local_batch(), 64);
    assert_eq!(Scenario::from_json(&scenario.to_json()).unwrap(), scenario);
    let job = scenario.resolve().unwrap();
    assert_eq!((job.placement.domains, job.placement.left_over), (32, 8));
}

#[test]
fn the_default_scene_is_valid_and_survives_its_file() {
    let scene = Scenario::default_scene();
    assert_eq!(scene.resolve().unwrap().placement.domains, 16);
    assert_eq!(Scenario::from_json(&scene.to_json()).unwrap(), scene);
}

#[test]
fn custom_hardware_and_models_read_as_printed() {
    let mut scene = Scenario::default_scene();
    scene.system = Named::Custom(Box::new(scene.system.resolve().unwrap()));
    scene.model = Named::Custom(Box::new(scene.model.resolve().unwrap()));
    assert_eq!(Scenario::from_json(&scene.to_json()).unwrap(), scene);
    let mut value: Value = serde_json::from_str(&scene.to_json()).unwrap();
    value["system"]["gpu"]["colour"] = json!(1);
    assert!(error(value.clone()).starts_with("system.gpu.colour: unknown field"));
    value["system"]["gpu"]
        .as_object_mut()
        .unwrap()
        .remove("colour");
    value["system"]["gpu"]["tdp_w"] = json!(-4);
    assert_eq!(
        error(value.clone()),
        "system.gpu.tdp_w: -4 is not allowed, expected 1 to 100000"
    );
    value["system"]["gpu"]["tdp_w"] = json!(1400);
    value["model"]["layers"] = json!(1.5);
    assert_eq!(
        error(value),
        "model.layers: 1.5 is not allowed, expected a whole number from 0"
    );
}

#[test]
fn bad_values_name_field_value_and_range() {
    for (value, line) in [
        (
            with("layout", json!({"tp": -1})),
            "layout.tp: -1 is not allowed, expected 1 to 72",
        ),
        (
            with("layout", json!({"tp": 1e99})),
            "layout.tp: 1e+99 is not allowed, expected 1 to 72",
        ),
        (
            with("layout", json!({"tp": 73})),
            "layout.tp: 73 is not allowed, expected 1 to 72",
        ),
        (
            with("layout", json!({"dp": 0})),
            "layout.dp: 0 is not allowed, expected 1 to 16384",
        ),
        (
            with("layout", json!({"dp": 15000})),
            "layout.dp: 15000 is not allowed, expected 1 to 13888 (1000000 GPUs in all)",
        ),
        (
            with("layout", json!({"dp": 3, "global_batch": 64})),
            "layout.global_batch: 64 is not allowed, expected a multiple of 3 (dp x microbatch)",
        ),
        (
            with("layout", json!({"precision": "int4"})),
            "layout.precision: \"int4\" is not allowed, expected one of bf16, fp8",
        ),
        (
            with("layout", json!([])),
            "layout: a list of 0 is not allowed, expected an object",
        ),
        (
            with("layout", json!({"recompute": null})),
            "layout.recompute: null is not allowed, expected one of none, selective, full",
        ),
        (
            with("policy", json!({"boost_cap": 1.4})),
            "policy.boost_cap: 1.4 is not allowed, expected 1 to 1.3",
        ),
        (
            with("policy", json!({"degrees": "some"})),
            "policy.degrees: \"some\" is not allowed, expected \"any\" or a list of degrees",
        ),
        (
            with("policy", json!({"degrees": [30, 73]})),
            "policy.degrees[1]: 73 is not allowed, expected 1 to 72",
        ),
        (
            with("policy", json!({"in_domain_spares": 72})),
            "policy.in_domain_spares: 72 is not allowed, expected 0 to 71",
        ),
        (
            with("policy", json!({"spare_domains": 99999})),
            "policy.spare_domains: 99999 is not allowed, expected 0 to 13880 (1000000 GPUs in all)",
        ),
        (
            with("failures", json!([{"domain": 8, "gpu": 0}])),
            "failures[0].domain: 8 is not allowed, expected 0 to 7",
        ),
        (
            with("failures", json!([{"domain": 0, "gpu": 72}])),
            "failures[0].gpu: 72 is not allowed, expected 0 to 71",
        ),
        (
            with("failures", json!([{"domain": 0}])),
            "failures[0].gpu: missing, expected 0 to 71",
        ),
        (
            with("failures", json!([{"domain": 0, "gpu": 1, "speed": 0.5}])),
            "failures[0].speed: 0.5 is not allowed, expected 1, or kind slow",
        ),
        (
            with(
                "failures",
                json!([{"domain": 0, "gpu": 1, "kind": "slow", "speed": 0.0}]),
            ),
            "failures[0].speed: 0.0 is not allowed, expected 0.05 to 1",
        ),
        (
            with("faults", json!(3)),
            "faults: 3 is not allowed, expected an object with causes, checkpoint, restart_min or strike",
        ),
        (
            with("version", json!(2)),
            "version: 2 is not allowed, expected 1",
        ),
        (
            with("colour", json!(1)),
            "colour: unknown field, expected one of version, system, model, layout, failures, policy, faults",
        ),
        (
            json!({"version": 1}),
            "system: missing, expected a preset id or an object",
        ),
        (
            json!([]),
            "scenario: a list of 0 is not allowed, expected an object",
        ),
    ] {
        assert_eq!(error(value), line);
    }
    assert!(
        error(with("system", json!("gb900")))
            .starts_with("system: \"gb900\" is not allowed, expected an object or one of a100")
    );
}

#[test]
fn text_that_is_not_json_is_one_line() {
    for text in [
        "",
        "{",
        "{\"version\": NaN}",
        "\u{0}\n\n",
        "{\"version\": 1e999}",
    ] {
        let line = Scenario::from_json(text).unwrap_err().to_string();
        assert!(
            line.starts_with("scenario: ") && !line.contains('\n'),
            "{line}"
        );
    }
    let hostile = json!({"version": 1, "a\nb": 1});
    assert!(!error(hostile).contains('\n'));
}

#[test]
fn spare_domains_may_fail_too() {
    let mut value = with(
        "policy",
        json!({"spare_domains": 1, "hot_spare_domains": 1}),
    );
    value["failures"] = json!([{"domain": 9, "gpu": 71}]);
    Scenario::from_value(&value).unwrap();
    value["failures"] = json!([{"domain": 10, "gpu": 0}]);
    assert_eq!(
        error(value),
        "failures[0].domain: 10 is not allowed, expected 0 to 9"
    );
}

#[test]
fn supported_degrees() {
    assert_eq!(Degrees::Any.largest(72, 70), Some(70));
    assert_eq!(Degrees::Any.largest(72, 36), Some(36));
    assert_eq!(Degrees::Any.largest(72, 35), None);
    assert_eq!(Degrees::Any.largest(1, 0), None);
    let paper = Degrees::List(vec![28, 30]);
    assert_eq!(paper.largest(32, 31), Some(30));
    assert_eq!(paper.largest(32, 29), Some(28));
    assert_eq!(paper.largest(32, 27), None);
    assert_eq!(paper.largest(32, 32), Some(32));
}

/// A scenario with every field, to be damaged.
fn full() -> Value {
    let mut value = json!({
        "version": 1, "system": "gb300-nvl72", "model": "llama3-405b",
        "layout": {"tp": 64, "pp": 4, "dp": 8, "cp": 1, "vp": 1, "microbatch": 1, "global_batch": 512, "seq": 8192,
                   "precision": "bf16", "recompute": "none", "sequence_parallel": true, "overlap": true},
        "failures": [{"domain": 0, "gpu": 3}, {"domain": 5, "gpu": 17, "kind": "slow", "speed": 0.8, "blast_radius": 4}],
        "policy": {"degrees": [60, 62], "parity": "per-replica", "boost_cap": 1.3, "rack_headroom": 1.3, "in_domain_spares": 8,
                   "spare_domains": 1, "hot_spare_domains": 1, "fixed_minibatch": false, "blast_radius": 1, "heads": "whole"},
        "faults": {"restart_min": 10}
    });
    value["system"] = serde_json::to_value(crate::core::hardware::system("gb300-nvl72")).unwrap();
    value["model"] = serde_json::to_value(crate::core::workload::model("llama3-405b")).unwrap();
    value
}

/// Number of places in a value.
fn places(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(places).sum(),
        Value::Object(map) => map.values().map(places).sum(),
        _ => 0,
    }
}

/// Replaces the value at a place, counted depth first.
fn replace(value: &mut Value, place: &mut usize, new: &Value) {
    if *place == 0 {
        *value = new.clone();
    }
    let Some(next) = place.checked_sub(1) else {
        return;
    };
    *place = next;
    let children: Vec<&mut Value> = match value {
        Value::Array(items) => items.iter_mut().collect(),
        Value::Object(map) => map.values_mut().collect(),
        _ => Vec::new(),
    };
    for child in children {
        let size = places(child);
        if *place < size {
            replace(child, place, new);
            *place = usize::MAX;
            return;
        }
        *place -= size;
    }
}

fn odd_value() -> impl Strategy<Value = Value> {
    let texts = prop::sample::select(vec![
        "",
        "any",
        "slow",
        "h100-nvl8",
        "llama3-8b",
        "full",
        "none",
        "NaN",
        "\n\u{202e}",
        "1",
    ]);
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(|n| json!(n)),
        (-3i64..2000).prop_map(|n| json!(n)),
        any::<f64>().prop_map(|n| json!(n)),
        (0.0f64..2.0).prop_map(|n| json!(n)),
        prop::sample::select(vec![1e99, -1e99, 4_294_967_296.0, 1e-320, 0.1])
            .prop_map(|n| json!(n)),
        texts.prop_map(|text| json!(text)),
        "\\PC{0,12}".prop_map(|text| json!(text)),
        prop::collection::vec(0u32..100, 0..5).prop_map(|list| json!(list)),
        Just(json!({})),
        Just(json!({"tp": 3})),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, ..ProptestConfig::default() })]

    #[test]
    fn a_damaged_scenario_is_read_or_refused_in_one_line(
        changes in prop::collection::vec((any::<prop::sample::Index>(), odd_value()), 1..4),
        cut in prop::option::weighted(0.2, any::<prop::sample::Index>()),
    ) {
        let mut value = full();
        for (place, new) in &changes {
            let mut place = place.index(places(&value));
            replace(&mut value, &mut place, new);
        }
        let mut text = value.to_string();
        if let Some(cut) = cut {
            let at = (0..=cut.index(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap();
            text.truncate(at);
        }
        match Scenario::from_json(&text) {
            Ok(scenario) => {
                scenario.resolve().unwrap();
                prop_assert_eq!(Scenario::from_json(&scenario.to_json()).unwrap(), scenario);
            }
            Err(error) => {
                let line = error.to_string();
                prop_assert!(!line.chars().any(char::is_control) && line.len() < 600, "{}", line);
            }
        }
    }
}
