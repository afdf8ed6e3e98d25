use super::*;
use proptest::prelude::*;

/// Both writers write it alike: where the shortest digits of a float are two, as .2 and .3 for .25, in either way.
fn written_alike(value: &Value) {
    let (ours, theirs) = (written(value), value.to_string());
    if ours != theirs {
        let again: Value = serde_json::from_str(&ours).unwrap();
        assert_eq!(format!("{again:?}"), format!("{value:?}"));
        assert_eq!(ours.len(), theirs.len(), "{ours} {theirs}");
    }
}

/// Both readers take it for the same, and both writers write it alike.
fn same(text: &str) {
    let (ours, theirs) = (read(text), serde_json::from_str::<Value>(text).ok());
    // Debug tells a whole number from a float and 0 from minus 0.
    assert_eq!(format!("{ours:?}"), format!("{theirs:?}"), "{text:?}");
    if let Some(value) = ours {
        written_alike(&value);
    }
}

#[test]
fn numbers_are_told_from_words_as_in_files() {
    let numbers = [
        "0",
        "-0",
        "-0.0",
        "8",
        " 8 ",
        "8.0",
        "-8",
        "08",
        "-08",
        "+8",
        "8.",
        ".8",
        "-",
        "",
        "-.5",
        "1e3",
        "1E+3",
        "1e-3",
        "1e",
        "1e+",
        "1.5e",
        "0e0",
        "00",
        "0x10",
        "1_000",
        "1,5",
        "8 8",
        "inf",
        "nan",
        "NaN",
        "Infinity",
        "-inf",
        "1e308",
        "1e309",
        "-1e309",
        "1e-400",
        "0e999999",
        "1e99999999999999999999",
        "0e99999999999999999999",
        "1e-99999999999999999999",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "-9223372036854775809",
        "18446744073709551615",
        "18446744073709551616",
        "5e-324",
        "2e-324",
        "1.7976931348623157e308",
        "1.7976931348623159e308",
        "2.2250738585072011e-308",
        "123456789012345678901234567890",
        "0.1",
        "0.30000000000000004",
        "1e16",
        "1e15",
        "1e-5",
        "0.00001234",
        "0.0001",
        "9.999e-5",
        "1.2345e16",
        "12345678901234567.0",
        "٣",
    ];
    numbers.into_iter().for_each(same);
    let exact = [
        "1.0", "0.1", "-0.0", "1e+16", "1e-6", "0.00001", "1.5e+300", "-2.5e-9", "1200.0", "8",
    ];
    for text in exact {
        assert_eq!(written(&read(text).unwrap()), text);
        assert_eq!(read(text).unwrap().to_string(), text);
    }
    same("1945823160633520.25");
}

#[test]
fn texts_lists_and_objects_are_read_as_in_files() {
    let texts = [
        "null",
        "nul",
        "nullx",
        "true",
        "false",
        "True",
        "\"\"",
        "\"a",
        "a",
        "\"a\"b",
        r#""\"\\\/\b\f\n\r\t""#,
        r#""\x""#,
        r#""\u00e9\u20AC""#,
        r#""\ud83d\ude00""#,
        r#""\ud83d""#,
        r#""\ud83dx""#,
        r#""\ud83d\u0041""#,
        r#""\ude00""#,
        r#""\u12""#,
        r#""\u+123""#,
        r#""\u00é""#,
        "\"\n\"",
        "\"\u{7f}é😀\"",
        "[]",
        "[ ]",
        "[1,]",
        "[,1]",
        "[1 2]",
        "[1,2 , 3]",
        "[",
        "]",
        "[1",
        "{}",
        "{ }",
        r#"{"a":1}"#,
        r#"{"a" : 1 , "b":[{}]}"#,
        r#"{"a":1,}"#,
        "{,}",
        r#"{"a"}"#,
        r#"{"a":}"#,
        "{a:1}",
        r#"{"a":1,"a":2}"#,
        r#"{"a":1]"#,
        "[1}",
        "\u{feff}1",
        "\u{b}1",
        r#"{"a":1}x"#,
        r#"{"b":1,"a":"\u0001"}"#,
    ];
    texts.into_iter().for_each(same);
    for deep in [126, 127, 128, 100_000] {
        same(&"[".repeat(deep));
        same(&["[".repeat(deep), "]".repeat(deep)].concat());
        same(&[r#"{"a":"#.repeat(deep), "1".into(), "}".repeat(deep)].concat());
    }
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (-1e6..1e6).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_text_is_read_as_in_files(text in any::<String>()) {
        same(&text);
    }

    #[test]
    fn texts_of_json_characters_are_read_as_in_files(
        text in r#"[-+.eE0-9 \[\]{},:"\\untrfalsd/]{0,12}"#,
    ) {
        same(&text);
    }

    #[test]
    fn what_looks_like_a_number_is_read_as_in_files(
        text in "-?[0-9]{1,25}(\\.[0-9]{0,30})?([eE][-+]?[0-9]{0,4})?",
    ) {
        same(&text);
    }

    #[test]
    fn numbers_are_read_as_in_files(real in any::<f64>(), whole in any::<i64>()) {
        for text in [format!("{real}"), format!("{real:?}"), format!("{real:e}"), whole.to_string()] {
            same(&text);
        }
    }

    #[test]
    fn values_are_written_as_in_files(value in values()) {
        written_alike(&value);
        same(&value.to_string());
        same(&serde_json::to_string_pretty(&value).unwrap());
    }
}
