//! Hash routes: `#/rack?sys=gb300-nvl72&fail=0.3&embed=1`.

/// A page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Route {
    /// Racks, scores and one step.
    #[default]
    Rack,
    /// Days of failures.
    Fleet,
    /// The paper's figures.
    Figures,
    /// Limits, sources, file format.
    About,
}

impl Route {
    /// Pages of the navigation, in order.
    pub const ALL: [Self; 4] = [Self::Rack, Self::Fleet, Self::Figures, Self::About];

    /// The word in the link.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Rack => "rack",
            Self::Fleet => "fleet",
            Self::Figures => "figures",
            Self::About => "about",
        }
    }

    /// The word in the navigation.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rack => "Rack",
            Self::Fleet => "Fleet",
            Self::Figures => "Figures",
            Self::About => "About",
        }
    }

    /// Page and query of a location hash such as `#/rack?sys=h100-nvl8`; `None` for an unknown page.
    pub fn parse(hash: &str) -> (Option<Self>, &str) {
        let rest = hash.trim_start_matches('#').trim_start_matches('/');
        let (page, query) = rest.split_once('?').unwrap_or((rest, ""));
        let page = page.trim_end_matches('/');
        if page.is_empty() {
            return (Some(Self::Rack), query);
        }
        (
            Self::ALL.into_iter().find(|route| route.id() == page),
            query,
        )
    }
}
