//! Files of the person's own that programs find by themselves. A program that misses one names no path.
//!
//! Owns the table, which has only sure cases. These places hold keys and are granted to nobody, so the advice is a copy for the
//! server.

use super::advice::shell;
use crate::sandbox::paths::below;

/// Such a file.
#[derive(Debug, PartialEq, Eq)]
pub struct Kept {
    /// The words of a program that does not find the file, in small letters. One of them is enough.
    says: &'static [&'static str],
    /// People's name for the file.
    called: &'static str,
    /// The path below the home.
    pub file: &'static str,
    /// The variable that names another one.
    pub variable: &'static str,
    /// The command that prints the part of it that is needed now.
    printed_by: &'static str,
}

const KEPT: &[Kept] = &[Kept {
    says: &[
        "no contexts are defined in kubeconfig",
        "no configuration has been provided, try setting kubernetes_master",
        "kubernetes configuration file not found",
        "invalid kube-config file. no configuration found",
    ],
    called: "kubeconfig",
    file: ".kube/config",
    variable: "KUBECONFIG",
    printed_by: "kubectl config view --minify --flatten",
}];

/// The file that a text is about.
#[must_use]
pub fn kept_file(said: &str) -> Option<&'static Kept> {
    let said = said.to_ascii_lowercase();
    KEPT.iter().find(|kept| kept.says.iter().any(|words| said.contains(words)))
}

impl Kept {
    /// The advice, if the person has the file. `id` is the server's id, `source` the source to install, as
    /// typed.
    #[must_use]
    pub fn advice(&self, home: &str, id: &str, source: &str) -> String {
        let Self { called, file, variable, printed_by, .. } = self;
        let copy = below(home, &format!("{called}-{id}"));
        let (read, named) = (shell(&copy), shell(&format!("{variable}={copy}")));
        format!(
            "it finds no {called}: Harbor hides ~/{file} from every server, since it holds keys. Make a copy for it, \
             `{printed_by} > {read}`, and install it with that: `harbor install {source} --read {read} --env {named}`"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_finds_no_kubeconfig_is_told_how_to_have_one_of_its_own() {
        for said in [
            "Error: unable to create kubernetes target provider: no current-context is set and no contexts are defined in kubeconfig.",
            "invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER environment variable",
            "kubernetes.config.config_exception.ConfigException: Invalid kube-config file. No configuration found.",
        ] {
            let kept = kept_file(said).unwrap();
            assert_eq!((kept.file, kept.variable), (".kube/config", "KUBECONFIG"), "{said}");
        }
        let told =
            kept_file("no contexts are defined in kubeconfig").unwrap().advice("/home/u", "k8s", "npm:k");
        let wanted = "`kubectl config view --minify --flatten > /home/u/kubeconfig-k8s`, and install it with that: \
                      `harbor install npm:k --read /home/u/kubeconfig-k8s --env KUBECONFIG=/home/u/kubeconfig-k8s`";
        assert!(told.ends_with(wanted), "{told}");
        for said in ["", "--kubeconfig string   Path to the kubeconfig file", "connection refused"] {
            assert_eq!(kept_file(said), None, "{said}");
        }
    }
}
