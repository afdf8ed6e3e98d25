//! What each Xid asks for, as NVIDIA's catalogue classes it.

use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

/// What an Xid means for the GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum XidClass {
    /// A GPU reset brings it back: the job restarts.
    Reset,
    /// The node goes out for repair.
    Repair,
    /// The application's own error, or information: ignored.
    Application,
}

/// One entry of the catalogue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Xid {
    /// Number.
    pub xid: u32,
    /// Short name.
    pub name: String,
    /// The catalogue's immediate action.
    pub action: String,
    /// What follows from it.
    pub class: XidClass,
}

#[derive(Deserialize)]
struct Data {
    source: String,
    codes: Vec<Xid>,
}

fn data() -> Option<&'static Data> {
    static DATA: OnceLock<Option<Data>> = OnceLock::new();
    DATA.get_or_init(|| {
        serde_json::from_str(include_str!("../../../../assets/data/xid_classes.json")).ok()
    })
    .as_ref()
}

/// The entry of a number, none for one that the catalogue does not list as in use.
pub fn find(xid: u32) -> Option<&'static Xid> {
    let codes = &data()?.codes;
    codes
        .binary_search_by_key(&xid, |entry| entry.xid)
        .ok()
        .and_then(|at| codes.get(at))
}

/// All entries.
pub fn all() -> &'static [Xid] {
    data().map_or(&[], |data| data.codes.as_slice())
}

/// Where the classes come from.
pub fn source() -> &'static str {
    data().map_or("", |data| data.source.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_classes_follow_the_action() {
        assert!(all().len() > 60 && source().contains("docs.nvidia.com"));
        assert!(all().is_sorted_by_key(|entry| entry.xid));
        for entry in all() {
            let class = match entry.action.as_str() {
                "RESTART_BM" | "CHECK_MECHANICALS" => XidClass::Repair,
                "RESET_GPU"
                | "WORKFLOW_XID_48"
                | "WORKFLOW_NVLINK_ERR"
                | "WORKFLOW_NVLINK5_ERR" => XidClass::Reset,
                _ => XidClass::Application,
            };
            assert_eq!(entry.class, class, "{}", entry.xid);
        }
        assert_eq!(find(79).unwrap().class, XidClass::Repair);
        assert_eq!(find(48).unwrap().class, XidClass::Reset);
        assert_eq!(find(13).unwrap().class, XidClass::Application);
        assert_eq!(find(7), None);
    }
}
