//! Entries: those that Harbor brings along, those of the catalog, and those that a repository declares.
//!
//! Owns the way from an id to a recipe. Must never take a word of an entry for the person's: its texts are shown as texts.

use std::path::Path;
use std::rc::Rc;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{CatalogDetails, ResolvedView};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::field::JsonObject;
use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::curated::{self, CURATED, Curated};
use harbor_policy::package;
use harbor_policy::recipe::Recipe;
use harbor_policy::recipe::server_json::{InstallOption, first, ways};
use harbor_policy::recipe::source::{InstallSource, default_name, sort};
use harbor_policy::suggest::closest;

use super::installations::{InstallCaller, Installations};
use super::read_source::ReadSource;
use super::source_kinds::wrong;
use super::staged::InstallStage;
use super::{declared, looking};
use crate::catalog::CatalogError;
use crate::store::definitions::Definition;

/// The meaning of an id or a source.
#[derive(Debug, Default)]
pub(super) struct FoundEntry {
    pub(super) source: String,
    pub(super) server_id: Option<ServerId>,
    title: Option<String>,
    description: Option<String>,
    repository: Option<String>,
    from: String,
    ways: Vec<InstallOption>,
    /// True if each origin is to have an instance of it.
    pub(super) stateful: bool,
    looked: Option<Rc<ReadSource>>,
    /// The token by which it can be named, if it was read.
    pub(super) planned: Option<String>,
}

/// The id or source that somebody names.
#[derive(Debug, Clone, Copy)]
pub(super) struct NamedSource<'a> {
    pub source: &'a str,
    pub manifest: Option<&'a JsonObject>,
    pub planned: Option<&'a str>,
}

impl NamedSource<'_> {
    /// The entry, repository or manifest that says how it is installed; `None` if only the source does.
    pub(super) async fn find(
        self,
        installs: &Rc<Installations>,
        caller: &InstallCaller,
    ) -> Result<Option<FoundEntry>, ErrorBody> {
        if let Some(token) = self.planned
            && let Some(looked) = installs.staged.looked(caller.client(), token)
        {
            return Ok(Some(FoundEntry::of_looked(looked, token)));
        }
        let looked = match (self.manifest, sort(self.source)) {
            (Some(manifest), _) => looking::read(installs, self.source, manifest).await?,
            (None, Ok(InstallSource::Entry(id))) => return find(installs, &id).await.map(Some),
            (None, sorted) => match (sorted.map_err(|why| wrong(&why))?, self.planned) {
                (InstallSource::Package(text), None) => match looking::repository(&text) {
                    Some(package) => looking::look(installs, caller, package).await?,
                    None => return Ok(None),
                },
                _ => return Ok(None),
            },
        };
        let looked = Rc::new(looked);
        let id = FoundEntry::of_looked(looked.clone(), "").server_id;
        let token = installs.staged.keep(caller.client(), id.as_ref(), InstallStage::Looked(looked.clone()));
        Ok(Some(FoundEntry::of_looked(looked, &token)))
    }
}

/// The entry with an id: one that Harbor brings along first, then the catalog's.
pub(super) async fn find(installs: &Installations, id: &str) -> Result<FoundEntry, ErrorBody> {
    if let Some(curated) = curated::find(id) {
        return Ok(FoundEntry::of_harbor(curated));
    }
    let details = installs.catalog.details(id.to_owned()).await;
    match details {
        Ok(Some(details)) => FoundEntry::of_catalog(details),
        Ok(None) => Err(unknown(installs, id).await),
        // A word that cannot be an id of the catalog is unknown, even if the catalog fails.
        Err(_) if !is_of_catalog(id) => Err(unknown(installs, id).await),
        Err(error) => Err(CatalogError::told(&error)),
    }
}

fn is_of_catalog(id: &str) -> bool {
    id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The error for an id that nothing has.
pub(super) async fn unknown(installs: &Installations, id: &str) -> ErrorBody {
    let near = installs.catalog.ids_near(id.to_owned()).await.unwrap_or_default();
    let known = CURATED.iter().map(|curated| curated.id).chain(near.iter().map(String::as_str));
    let meant = closest(id, known);
    let next = match meant {
        Some(meant) => format!("; did you mean {meant}?"),
        // Packages of servers have such names.
        None if id.starts_with("mcp-") || id.ends_with("-mcp") => {
            format!("; did you mean pypi:{id} or npm:{id}?")
        }
        None => format!(
            "; `harbor catalog search {id}` looks for it, and a package is named npm:{id} or pypi:{id}"
        ),
    };
    let error = ErrorBody::new(Code::NotFound, format!("nothing has the id {id}{next}"));
    error.with("field", "source")
}

impl FoundEntry {
    /// An entry that Harbor brings along.
    pub(super) fn of_harbor(curated: &Curated) -> Self {
        Self {
            source: curated.id.into(),
            server_id: ServerId::parse(curated.id),
            title: Some(curated.title.into()),
            description: Some(curated.description.into()),
            repository: Some(curated.repository.into()),
            from: "curated".into(),
            ways: vec![InstallOption { recipe: Recipe::of_curated(curated, &exists), why_not: None }],
            stateful: curated.stateful,
            ..Self::default()
        }
    }

    /// A source that the person named, without further facts.
    pub(super) fn of_person(text: &str, source: &InstallSource) -> Self {
        let recipe = Recipe { source: text.to_owned(), ..Recipe::default() };
        Self {
            source: text.to_owned(),
            server_id: default_name(source),
            from: "person".into(),
            ways: vec![InstallOption { recipe, why_not: None }],
            ..Self::default()
        }
    }

    /// A repository or a manifest that was read.
    fn of_looked(looked: Rc<ReadSource>, token: &str) -> Self {
        let says = &looked.found.says;
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let own = sort(&looked.source).ok().filter(|_| looked.package.is_some());
        let named = says.title.rsplit('/').next().and_then(name_of);
        Self {
            source: looked.source.clone(),
            server_id: own.as_ref().and_then(default_name).or(named),
            title: some(&says.title),
            description: some(&says.description),
            repository: says.repository.clone(),
            from: if looked.package.is_some() { "repository" } else { "manifest" }.into(),
            ways: says.ways.clone(),
            planned: Some(token.to_owned()),
            looked: Some(looked),
            stateful: false,
        }
    }

    fn of_catalog(details: CatalogDetails) -> Result<Self, ErrorBody> {
        let entry = details.entry;
        if let Some(curated) = curated::find(&entry.name).filter(|_| entry.source == "curated") {
            return Ok(Self::of_harbor(curated));
        }
        if entry.removed_at.is_some() || entry.status == "deleted" {
            let message = format!("its publisher has withdrawn {}", entry.name);
            return Err(ErrorBody::new(Code::InvalidParams, message).with("field", "source"));
        }
        Ok(Self {
            source: entry.id,
            server_id: entry.name.rsplit('/').next().and_then(name_of),
            title: Some(entry.title.unwrap_or(entry.name)),
            description: Some(entry.description),
            repository: details.repository,
            from: entry.source,
            ways: ways(details.packages.as_str(), details.remotes.as_str()),
            stateful: false,
            looked: None,
            planned: None,
        })
    }

    /// The chosen way.
    pub(super) fn chosen(&self, wanted: Option<u64>) -> Result<(usize, &Recipe), ErrorBody> {
        let refused = |why: String| ErrorBody::new(Code::InvalidParams, why).with("field", "package");
        let reasons = || {
            let each = self.ways.iter().filter_map(|way| Some((&way.recipe.source, way.why_not.as_ref()?)));
            each.map(|(source, why)| format!("{source}: {why}")).collect::<Vec<_>>().join("\n")
        };
        let at = match wanted {
            Some(at) => usize::try_from(at).unwrap_or(usize::MAX),
            None if self.ways.is_empty() => {
                return Err(refused(format!("{} does not say how to install it", self.source)));
            }
            None => first(&self.ways)
                .ok_or_else(|| refused(format!("{} cannot be installed here\n{}", self.source, reasons())))?,
        };
        let count = self.ways.len();
        let way = self.ways.get(at).ok_or_else(|| {
            refused(format!("{} can be installed in {count} ways, numbered from 1", self.source))
        })?;
        match &way.why_not {
            Some(why) => Err(refused(format!("{}: {why}", way.recipe.source))),
            None => Ok((at, &way.recipe)),
        }
    }

    /// The view for clients.
    pub(super) fn view(
        self,
        installs: &Installations,
        wanted: Option<u64>,
    ) -> Result<ResolvedView, ErrorBody> {
        let way = match wanted {
            None if first(&self.ways).is_none() => None,
            wanted => Some(self.chosen(wanted)?),
        };
        let recipe = way.map(|(_, recipe)| recipe.clone()).unwrap_or_default();
        let way = way.map(|(at, _)| at as u64);
        let looked = self.looked.as_deref();
        Ok(ResolvedView {
            found_in: looked.map(|looked| looked.found.found_in.clone()),
            commit: looked.and_then(ReadSource::commit),
            notes: looked.map(|looked| looked.found.says.notes.clone()).unwrap_or_default(),
            planned: self.planned,
            server_id: self.server_id.map(|id| id.to_string()),
            title: self.title,
            description: self.description,
            repository: self.repository,
            from: self.from,
            installed: with_source(installs, &recipe.source),
            inputs: recipe.inputs.into_iter().map(declared::input).collect(),
            variables: recipe.env.into_iter().map(declared::variable).collect(),
            secrets: recipe.secrets.into_iter().map(declared::secret).collect(),
            ways: self.ways.into_iter().map(declared::way).collect(),
            source: self.source,
            way,
        })
    }
}

/// True if a path exists. Programs of the system lie on local disks, so this needs no thread.
fn exists(path: &str) -> bool {
    Path::new(path).exists()
}

/// The name that follows from a package's name: `time-mcp` becomes `time`.
fn name_of(last: &str) -> Option<ServerId> {
    let text = format!("npm:{}", last.to_ascii_lowercase());
    default_name(&sort(&text).ok()?)
}

/// The servers here with this source, in whatever version.
fn with_source(installs: &Installations, text: &str) -> Vec<String> {
    let Ok(source) = sort(text) else { return Vec::new() };
    let servers = installs.supervisor.all();
    let same = servers.iter().filter(|server| is_of(&server.definition(), &source));
    same.map(|server| server.id().to_string()).collect()
}

fn is_of(definition: &Definition, source: &InstallSource) -> bool {
    match source {
        InstallSource::Package(text) => {
            let wanted = package::source::read(text, &[]).ok();
            // Files of all kinds of servers have the name `server`.
            let of = |one: package::Package| (one.ecosystem, one.binary().map(|binary| binary.url), one.name);
            let same = |has| wanted.is_some_and(|wanted| of(wanted) == of(has));
            definition.package().is_some_and(same)
        }
        InstallSource::Image(image) => definition.image.as_ref().is_some_and(|has| has.reference == *image),
        InstallSource::Remote(url) => definition.remote.as_ref().is_some_and(|has| has.url == *url),
        InstallSource::Entry(_) => false,
    }
}
