//! The programs that servers and installers need, as they are on this machine.
//!
//! Owns their view. Must never run an installer.

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{CheckRuntimesResult, LookedIn, RuntimeView, RuntimesView};
use harbor_ipc_proto::codes::Code;
use harbor_policy::runtimes::lacks;

use super::installations::Installations;
use crate::runtimes::{FoundRuntimes, version_of};

pub(super) async fn runtimes(installs: &Installations) -> Result<CheckRuntimesResult, ErrorBody> {
    let runtimes = installs.supervisor.runtimes();
    let looked = tokio::task::spawn_blocking(move || {
        let looked = runtimes.look();
        let versions = looked.all().map(|(_, found)| version_of(found?.0, &looked.path)).collect::<Vec<_>>();
        (looked, versions)
    });
    let (looked, versions) =
        looked.await.map_err(|error| ErrorBody::new(Code::Internal, error.to_string()))?;
    Ok(CheckRuntimesResult { runtimes: shown_runtimes(&looked, versions) })
}

fn shown_runtimes(looked: &FoundRuntimes, versions: Vec<Option<String>>) -> RuntimesView {
    let programs = looked.all().zip(versions).map(|((runtime, found), version)| RuntimeView {
        name: runtime.name.into(),
        path: found.map(|(path, _)| path.to_owned()),
        found_by: found.map(|(_, how)| how).map(Into::into),
        version,
        needed_for: runtime.needed_for.into(),
        install_hint: found.is_none().then_some(runtime.hint.into()),
    });
    let has = |name: &str| looked.get(name).is_some();
    let can_install =
        lacks(has).filter(|(_, lack)| lack.is_empty()).map(|(kind, _)| kind.to_owned()).collect();
    let place = |place: &harbor_policy::runtimes::SearchedDirectory| LookedIn {
        dir: place.dir.clone(),
        found_by: place.how.into(),
    };
    RuntimesView {
        programs: programs.collect(),
        can_install,
        looked_in: looked.places.iter().map(place).collect(),
    }
}
