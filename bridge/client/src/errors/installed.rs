//! The next step after an installation or an upgrade that failed.
//!
//! Owns these sentences. Must never advise `--secret` for a variable whose name is not a secret's: Harbor
//! could not give a hint about it.

use harbor_policy::credentials::is_secret_name;

use super::Refusal;

impl Refusal {
    /// The state after the failure, and the thing that the server seems to have lacked.
    pub(super) fn next_step_to_installed(&self, server: &str) -> String {
        let is_new = self.text("left").is_some_and(|left| left == "nothing");
        let skipped =
            |variable| format!("if the server works without that download, add `--install-env {variable}=1`");
        let told = self.text("arguments").or_else(|| self.text("skipped_by").filter(|_| is_new).map(skipped));
        let left = if is_new { "nothing was installed".into() } else { format!("{server} is unchanged") };
        if let Some(told) = told.or_else(|| self.text("python")) {
            return format!("{left}; {told}");
        }
        let Some(name) = self.text("variable") else { return left };
        match (is_new, is_secret_name(&name)) {
            (true, true) => {
                format!("{left}; if the server needs the key {name}, `--secret {name}` asks you for it")
            }
            (true, false) => format!("{left}; if the server needs {name}, set it with `--env {name}=…`"),
            (false, true) => {
                format!(
                    "{left}; if the server needs the key {name}, set it with `harbor secrets set {server} {name}`"
                )
            }
            (false, false) => {
                format!(
                    "{left}; if the server needs {name}, set it with `harbor set {server} --env {name}=…`"
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_a_key_by_its_name_is_asked_for_as_a_secret() {
        let next = |left: &str, name: &str| {
            let refusal = Refusal {
                code: "ERR_CONNECTION_FAILED".into(),
                message: "no".into(),
                details: Some(format!(r#"{{"left":"{left}","variable":"{name}"}}"#)),
                server: Some("s".into()),
                profile: None,
            };
            refusal.next_step_to_installed("s")
        };
        for (left, name, step) in [
            ("nothing", "A_TOKEN", "the key A_TOKEN, `--secret A_TOKEN` asks you for it"),
            ("nothing", "ALLOWED_DIR", "ALLOWED_DIR, set it with `--env ALLOWED_DIR=…`"),
            ("as_before", "A_TOKEN", "the key A_TOKEN, set it with `harbor secrets set s A_TOKEN`"),
            ("as_before", "ALLOWED_DIR", "ALLOWED_DIR, set it with `harbor set s --env ALLOWED_DIR=…`"),
        ] {
            let kept = if left == "nothing" { "nothing was installed" } else { "s is unchanged" };
            assert_eq!(next(left, name), format!("{kept}; if the server needs {step}"));
        }
    }
}
