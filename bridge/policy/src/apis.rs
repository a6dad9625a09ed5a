//! The provider that a key belongs to, and the hosts that the key is for. A server that has no other keys can be held to these
//! hosts.
//!
//! Owns the lists, from the documents of the providers. Must never name a host where others than the key's provider answer.

use crate::credentials::is_secret_name;

/// Keys, as servers name them, and the hosts that take them.
const APIS: &[(&[&str], &[&str])] = &[
    (&["AIRTABLE_API_KEY"], &["api.airtable.com"]),
    (&["ANTHROPIC_API_KEY"], &["api.anthropic.com"]),
    (&["BRAVE_API_KEY"], &["api.search.brave.com"]),
    (&["DISCORD_TOKEN", "DISCORD_BOT_TOKEN"], &["discord.com", "*.discord.gg", "cdn.discordapp.com"]),
    (&["ELEVENLABS_API_KEY"], &["api.elevenlabs.io"]),
    (&["EXA_API_KEY"], &["api.exa.ai"]),
    (&["FIGMA_API_KEY"], &["api.figma.com"]),
    (&["FIRECRAWL_API_KEY"], &["api.firecrawl.dev"]),
    (&["GITHUB_PERSONAL_ACCESS_TOKEN", "GITHUB_TOKEN"], &["api.github.com", "*.githubusercontent.com"]),
    (&["LINEAR_API_KEY"], &["api.linear.app"]),
    (&["NOTION_API_KEY", "NOTION_TOKEN"], &["api.notion.com"]),
    (&["OPENAI_API_KEY"], &["api.openai.com"]),
    (&["PERPLEXITY_API_KEY"], &["api.perplexity.ai"]),
    (&["SENTRY_ACCESS_TOKEN", "SENTRY_AUTH_TOKEN"], &["sentry.io", "*.sentry.io"]),
    (&["SLACK_BOT_TOKEN"], &["slack.com", "*.slack.com"]),
    (&["STRIPE_SECRET_KEY"], &["api.stripe.com"]),
    (&["TAVILY_API_KEY"], &["api.tavily.com"]),
    (&["TELEGRAM_BOT_TOKEN"], &["api.telegram.org"]),
    (&["TODOIST_API_TOKEN"], &["api.todoist.com"]),
];

/// The beginnings of names of keys that people have from these services, and not from a package.
const SERVICES: &[(&str, &str)] = &[
    ("ANTHROPIC_", "Anthropic"),
    ("AWS_", "AWS"),
    ("AZURE_", "Azure"),
    ("CLOUDFLARE_", "Cloudflare"),
    ("DEEPSEEK_", "DeepSeek"),
    ("DIGITALOCEAN_", "DigitalOcean"),
    ("DISCORD_", "Discord"),
    ("DOCKER_", "Docker"),
    ("GCP_", "Google"),
    ("GEMINI_", "Google"),
    ("GH_", "GitHub"),
    ("GITHUB_", "GitHub"),
    ("GITLAB_", "GitLab"),
    ("GOOGLE_", "Google"),
    ("GROQ_", "Groq"),
    ("HF_", "Hugging Face"),
    ("HUGGINGFACE_", "Hugging Face"),
    ("LINEAR_", "Linear"),
    ("MISTRAL_", "Mistral"),
    ("NOTION_", "Notion"),
    ("NPM_", "npm"),
    ("OPENAI_", "OpenAI"),
    ("OPENROUTER_", "OpenRouter"),
    ("PYPI_", "PyPI"),
    ("SENTRY_", "Sentry"),
    ("SLACK_", "Slack"),
    ("STRIPE_", "Stripe"),
    ("TELEGRAM_", "Telegram"),
    ("TWILIO_", "Twilio"),
    ("VERCEL_", "Vercel"),
];

/// The well-known service whose key is called so.
#[must_use]
pub fn service_of(key: &str) -> Option<&'static str> {
    let found = SERVICES.iter().find(|(start, _)| key.starts_with(start));
    found.filter(|_| is_secret_name(key)).map(|(_, service)| *service)
}

/// The hosts that these keys are for. Empty if there is no key, or a key with unknown hosts.
#[must_use]
pub fn hosts_of<'a>(keys: impl IntoIterator<Item = &'a String>) -> Vec<&'static str> {
    let mut all = Vec::new();
    for key in keys {
        let known = APIS.iter().find(|(names, _)| names.contains(&key.as_str()));
        let Some((_, hosts)) = known else { return Vec::new() };
        all.extend(hosts.iter().copied().filter(|host| !all.contains(host)).collect::<Vec<_>>());
    }
    all
}

#[cfg(test)]
mod tests {
    use harbor_ipc_proto::client::{NetworkKind, SandboxSettings};

    use super::*;
    use crate::sandbox::settings::checked;

    fn hosts(keys: &[&str]) -> Vec<&'static str> {
        hosts_of(&keys.iter().map(|&key| key.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn hosts_are_known_where_all_keys_are() {
        assert_eq!(hosts(&["BRAVE_API_KEY"]), ["api.search.brave.com"]);
        assert_eq!(hosts(&["EXA_API_KEY", "OPENAI_API_KEY"]), ["api.exa.ai", "api.openai.com"]);
        assert!(hosts(&[]).is_empty() && hosts(&["EXA_API_KEY", "MY_KEY"]).is_empty());
    }

    #[test]
    fn keys_of_well_known_services_are_known_by_their_names() {
        for (key, service) in [
            ("AWS_SECRET_ACCESS_KEY", Some("AWS")),
            ("GITHUB_TOKEN", Some("GitHub")),
            ("OPENAI_API_KEY", Some("OpenAI")),
            ("AWS_REGION", None),
            ("MY_AWS_TOKEN", None),
        ] {
            assert_eq!(service_of(key), service, "{key}");
        }
    }

    #[test]
    fn each_of_them_may_be_granted() {
        for (names, hosts) in APIS {
            let hosts = Some(hosts.iter().map(|&host| host.to_owned()).collect());
            let settings =
                SandboxSettings { network: Some(NetworkKind::Hosts), hosts, ..SandboxSettings::default() };
            assert!(checked(&settings).is_ok(), "{names:?}");
        }
    }
}
