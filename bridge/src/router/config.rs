//! `get_config`: the settings in force, and which of them come from the environment.

use std::collections::BTreeMap;
use std::env;

use harbor_ipc_proto::client::GetConfigResult;

use super::reply::{Handled, reply};
use super::state::Router;
use crate::config::{SWITCHES, file};

pub(super) fn get(router: &Router) -> Handled {
    let value =
        |name: &&str| Some(((*name).to_owned(), env::var(name).ok().filter(|value| !value.is_empty())?));
    let config = &router.host.config;
    reply(GetConfigResult {
        config: file::show(&config.now()),
        refused: config.refused(),
        changes: config.changes(),
        environment: SWITCHES.iter().filter_map(value).collect::<BTreeMap<_, _>>(),
    })
}
