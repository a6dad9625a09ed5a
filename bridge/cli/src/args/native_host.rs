//! `harbor host`: the native host in browsers, as it is spoken of on the command line.

use std::path::PathBuf;

use clap::builder::{NonEmptyStringValueParser, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueHint};
use harbor_client_configs::browsers::{BROWSERS, Browser, browser};
use harbor_client_configs::extensions::is_id;

use super::values::read_by;

/// The word for all browsers, found or not.
const ALL: &str = "all";

#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum NativeHost {
    Install(HostInstall),
    /// Remove the manifests that `install` wrote (default: of all browsers)
    Uninstall(HostPlace),
    /// Show each browser, its manifest, and what to do
    Status(HostPlace),
}

/// The manifests that are meant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostPlace {
    /// The manifests of these browsers; of all browsers on this machine when empty.
    pub browsers: Vec<&'static Browser>,
    /// The manifest in this data directory of a Chromium.
    pub user_data_dir: Option<PathBuf>,
}

read_by! { HostPlace: PlaceOptions; }

#[derive(Debug, Args)]
struct PlaceOptions {
    /// This browser only; repeatable (default: all installed ones)
    #[arg(long, value_name = "NAME", value_parser = browsers())]
    browser: Vec<Browsers>,
    /// A Chromium that uses this data directory
    #[arg(long, value_name = "DIR", value_parser = NonEmptyStringValueParser::new().map(PathBuf::from), value_hint = ValueHint::DirPath)]
    user_data_dir: Option<PathBuf>,
}

/// Connect your browsers to Harbor
///
/// Writes a manifest in your home, so that Harbor's extension can start the native host `harbor_bridge`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct HostInstall {
    #[command(flatten)]
    pub place: HostPlace,
    /// Also admit the extension with this id; repeatable
    #[arg(long = "extension-id", value_name = "ID", value_parser = extension_id)]
    pub extension_ids: Vec<String>,
    /// Set another program's manifest of this name aside
    #[arg(long)]
    pub replace: bool,
}

impl HostPlace {
    fn read(options: PlaceOptions) -> Result<Self, String> {
        let mut browsers: Vec<_> = options.browser.into_iter().flat_map(|named| named.0).collect();
        if options.user_data_dir.is_some() {
            match browsers.as_slice() {
                [] => browsers.extend(browser("chromium")),
                [one] if one.is_chromium() => {}
                [_] => return Err("--user-data-dir is for Chromium and browsers made from it".into()),
                _ => return Err("--user-data-dir belongs to one browser; name that browser".into()),
            }
        }
        Ok(Self { browsers, user_data_dir: options.user_data_dir })
    }
}

/// One browser, or all.
#[derive(Debug, Clone)]
struct Browsers(Vec<&'static Browser>);

fn browsers() -> impl TypedValueParser<Value = Browsers> {
    let names = BROWSERS.iter().map(|browser| browser.id).chain([ALL]);
    PossibleValuesParser::new(names)
        .map(|name| Browsers(BROWSERS.iter().filter(|browser| name == ALL || name == browser.id).collect()))
}

fn extension_id(text: &str) -> Result<String, String> {
    let expected = "an id has 32 letters from a to p in Chromium, and looks like name@example.org in Firefox";
    is_id(text).then(|| text.to_owned()).ok_or_else(|| expected.into())
}
