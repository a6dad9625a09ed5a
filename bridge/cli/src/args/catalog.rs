//! The catalog, as it is typed: looked through, searched, one of it shown, refreshed.
//!
//! Owns the words behind `catalog`. Must never judge what is looked for.

use super::{Command, Words};

/// What of the catalog is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CatalogWanted {
    /// A page of all.
    List(PageWanted),
    /// A page of what these words find.
    Search(String, PageWanted),
    /// One of it, by its id.
    Show(String),
    /// That it is fetched anew; all of it, or what has changed.
    Refresh(bool),
    /// How it is.
    Status,
}

/// Which page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageWanted {
    pub limit: Option<u64>,
    pub cursor: Option<String>,
    pub source: Option<String>,
    pub featured: bool,
}

impl Words {
    pub(super) fn catalog(&self) -> Result<Command, String> {
        let plain: Vec<_> = self.plain.iter().map(String::as_str).collect();
        let wanted = match plain[..] {
            [] | ["list"] => CatalogWanted::List(self.page()?),
            ["search"] => return Err("search for what? Name some words".into()),
            ["search", ..] => CatalogWanted::Search(plain[1..].join(" "), self.page()?),
            ["show"] => return Err("which one? Name the id that a list shows".into()),
            ["show", id] => CatalogWanted::Show(id.to_owned()),
            ["refresh"] => CatalogWanted::Refresh(self.has("--full")),
            ["status"] => CatalogWanted::Status,
            ["list" | "show" | "refresh" | "status", .., word] => {
                return Err(format!("unexpected argument {word}"));
            }
            _ => return Err("say list, search WORDS…, show ID, refresh or status".into()),
        };
        self.fit(&wanted)?;
        Ok(Command::Catalog(wanted))
    }

    fn page(&self) -> Result<PageWanted, String> {
        Ok(PageWanted {
            limit: self.whole("--limit", 200)?,
            cursor: self.option("--cursor").map(str::to_owned),
            source: self.option("--source").map(str::to_owned),
            featured: self.has("--featured"),
        })
    }

    /// An option that means nothing where it stands was meant for something.
    fn fit(&self, wanted: &CatalogWanted) -> Result<(), String> {
        let fits: &[&str] = match wanted {
            CatalogWanted::List(_) => &["--limit", "--cursor", "--source", "--featured"],
            CatalogWanted::Search(..) => &["--limit", "--cursor"],
            CatalogWanted::Refresh(_) => &["--full"],
            CatalogWanted::Show(_) | CatalogWanted::Status => &[],
        };
        let stray = self.options.iter().find(|(name, _)| !fits.contains(name));
        stray.map_or(Ok(()), |(name, _)| Err(format!("{name} has no meaning here")))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{command, complaint};
    use super::*;

    #[test]
    fn each_form_is_read() {
        let page = PageWanted { limit: Some(5), cursor: Some("x".into()), ..PageWanted::default() };
        for (line, wanted) in [
            (&["catalog"][..], CatalogWanted::List(PageWanted::default())),
            (
                &["catalog", "list", "--featured", "--source", "curated"],
                CatalogWanted::List(PageWanted {
                    featured: true,
                    source: Some("curated".into()),
                    ..PageWanted::default()
                }),
            ),
            (
                &["catalog", "search", "time", "zone", "--limit", "5", "--cursor=x"],
                CatalogWanted::Search("time zone".into(), page),
            ),
            (&["catalog", "show", "00ff"], CatalogWanted::Show("00ff".into())),
            (&["catalog", "refresh", "--full"], CatalogWanted::Refresh(true)),
            (&["catalog", "status"], CatalogWanted::Status),
        ] {
            assert_eq!(command(line), Command::Catalog(wanted), "{line:?}");
        }
        for (line, said) in [
            (&["catalog", "search"][..], "search for what? Name some words"),
            (&["catalog", "show"], "which one? Name the id"),
            (&["catalog", "time"], "say list, search WORDS…"),
            (&["catalog", "show", "a", "b"], "unexpected argument b"),
            (&["catalog", "search", "x", "--featured"], "--featured has no meaning here"),
            (&["catalog", "--limit", "201"], "--limit 201: use a whole number from 1 to 200"),
        ] {
            let complaint = complaint(line);
            assert!(complaint.starts_with(said), "{complaint}");
        }
    }
}
