//! The names of browsers' own profiles.
//!
//! Must never name two browsers alike: what the person allows a site in one holds in no other one.

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;
use harbor_policy::grants::DEFAULT_PROFILE;

use super::Host;

impl Host {
    /// The profile of the browser whose extension keeps this id: `default` for the first that came, whose grants may be older
    /// than profiles are, `browser:ID` for each other one.
    ///
    /// # Errors
    /// When the disk refuses to note the first.
    pub async fn name_profile(&self, id: String) -> Result<String, ErrorBody> {
        let name = format!("browser:{id}");
        match self.first_browser.is(id).await {
            Ok(true) => Ok(DEFAULT_PROFILE.into()),
            Ok(false) => Ok(name),
            Err(error) => {
                Err(ErrorBody::new(Code::Internal, format!("{error}; nothing was done for a page")))
            }
        }
    }
}
