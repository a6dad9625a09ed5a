//! A package as a command line or a typed source describes it.
//!
//! Must never say how it is installed.

/// The origin of a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ecosystem {
    /// npm, for Node.js.
    Npm,
    /// The Python package index.
    Pypi,
    /// A repository with a package of either of them.
    Git,
    /// A program, or an archive with one, that somebody offers for download.
    Binary,
}

impl Ecosystem {
    /// Its name, for people and for the stamp of an installation.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Npm => "npm",
            Self::Pypi => "pypi",
            Self::Git => "git",
            Self::Binary => "binary",
        }
    }
}

/// A package that a command line runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// The origin of the package.
    pub ecosystem: Ecosystem,
    /// The package as the installer is given it: `@scope/name@1.2`, `name==1.2`, `name[extra]>=1`.
    pub spec: String,
    /// The package, without version and extras.
    pub name: String,
    /// The program, where one was named apart from the package.
    pub program: Option<String>,
    /// The server's own arguments.
    pub args: Vec<String>,
    /// Other packages that are installed beside it, as the installer is given them.
    pub with: Vec<String>,
}

impl Package {
    /// The program that is called like the package: npm leaves the scope out.
    #[must_use]
    pub fn program_or_name(&self) -> &str {
        self.program.as_deref().unwrap_or_else(|| self.bare_name())
    }

    /// Itself, then what is installed beside it.
    #[must_use]
    pub fn wanted(&self) -> Vec<&str> {
        std::iter::once(&self.spec).chain(&self.with).map(String::as_str).collect()
    }

    pub(super) fn bare_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or_default()
    }
}
