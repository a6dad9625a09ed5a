# The groups of tests that take minutes, and the files that each depends on. A group runs whole only if one of these files is
# another one than when the group passed whole last; else only its pick runs, which has a case for each of its promises.
# tests/passed.sums has a line for each group: its name, and the sum of its files when it passed whole.
# Sourced after steps.sh, never run. Must not run a test.
# shellcheck shell=bash

groups=(sandbox packages conformance browsers)
passed_sums=$root/tests/passed.sums

# group_files GROUP: which files it depends on, as patterns of git; a `*` also stands for directories. What is in no pattern is
# met by the pick, and by all tests that are in no group.
group_files() {
  case $1 in
    # Each part of it has the word in its path: the profile, the facts, the launcher, the attacks and their table.
    sandbox) printf '%s\n' '*sandbox*' ;;
    packages)
      # The same words: kinds of package, plans, locks, trials, upgrades, engines of containers, downloads, registries and
      # their doubles, in each crate.
      printf '*%s*\n' package install download container python runtime npm pypi registr upgrad trial
      # An installation is the start of a process by a supervisor, in a sandbox, with what the person has agreed to.
      printf '%s\n' '*sandbox*' bridge/src/supervisor runner/src/session 'runner/src/*.rs' runner/child/src/launcher.rs \
        runner/child/src/spawn.rs
      # Where a package may come from: addresses, answers of registries, repositories, keys.
      printf '%s\n' runner/web runner/http/src catalog-worker/src tests/src/{git,http_server,podman,tls}.rs 'tests/src/catalog*'
      # The modules whose names have none of the words; scripts/servers says which real servers there are.
      printf 'tests/tests/e2e/%s*\n' planning popular sources repositories real_servers doubles
      printf '%s\n' scripts/servers
      # What all of it is compiled from: an upgrade of an archive's or a certificate's reader is in no file of ours.
      printf '%s\n' Cargo.lock rust-toolchain.toml
      # The extensions install nothing.
      printf '%s\n' ':!extension'
      ;;
    conformance)
      # The suite, and the two ways of a call that it watches: as a client over HTTP with its logins, and the protocol itself.
      printf '*%s*\n' conformance oauth
      printf '%s\n' runner/http runner/web runner/src/mcp runner/src/session bridge/src/link bridge/cli/src/commands/call'*'
      printf '%s\n' scripts/servers Cargo.lock rust-toolchain.toml ':!extension'
      ;;
    browsers)
      # The extensions and their cases; what they are compiled from is in extension/package-lock.json.
      printf '%s\n' extension
      # The way of a page's or a panel's message: relay, connections, handlers, decisions; and the messages themselves.
      printf '%s\n' bridge/src/{front,router,browser,agent,models,host}'*' bridge/policy/src ipc-proto/src
      # A browser tool comes by `harbor mcp`, a prompt goes by the model worker; the manifests lead a browser to the bridge.
      printf '%s\n' bridge/mcp-server runner/model bridge/cli/src/commands/native_host Cargo.lock rust-toolchain.toml
      ;;
  esac
  printf '%s\n' ':!*.md' ':!docs'
}

# What runs of the browser cases where not all do, as words of their files' names: the main way, window.ai and LanguageModel, the
# question, a hostile page, servers in the panel, and what browser tools may not do. Firefox has three of them.
picked_cases=(way.test window_ai browser_safety asked hostile.test language_model sidebar_adding)
picked_cases_firefox=(way.test window_ai browser_safety)

# group_rest GROUP: what runs only with the whole group, as an expression of nextest; nothing where it has no part of nextest's.
group_rest() {
  local picked rest
  case $1 in
    # The pick: the strongest row, one runner for all servers, and no sandbox; what a server may use, and what not of others.
    sandbox)
      rest=(
        suite::between::
        suite::the_weakest_offer_holds_what_it_says
        neighbours::the_init_of_its_namespace_is_no_way_out
        neighbours::a_server_does_not_widen_the_next_start_of_another
        neighbours::what_is_protected_is_not_granted_by_being_named
        removal::
      )
      printf 'binary(sandbox) and test(/^(%s)/)' "$(IFS='|' && printf '%s' "${rest[*]}")"
      ;;
    conformance)
      picked=(
        conformance::every_scenario_for_clients_is_passed_or_has_a_reason
        # Each revision, and each kind of answer.
        conformance::initialize_of_before
        conformance::tools_call
        conformance::request_state
        conformance::sse_retry
        conformance::standard_headers
        # A login of each kind.
        conformance::auth_basic_cimd
        conformance::auth_iss_wrong_issuer
        conformance::auth_metadata_long_before
        conformance::auth_scope_step_up
        conformance::auth_token_endpoint_auth_post
      )
      printf 'binary(e2e) and test(/^conformance::/) and not test(/^(%s)$/)' "$(IFS='|' && printf '%s' "${picked[*]}")"
      ;;
    packages)
      picked=(
        # Nothing without a yes, and nothing else than what was planned.
        install::nothing_is_installed_without_a_yes
        install::what_was_planned_is_what_is_installed
        planning::a_dry_run_shows_what_it_can_and_fails_as_the_real_one_would
        # npm, PyPI, repositories, images, programs, remote servers: there, upgraded, lost, and brought back.
        install::a_package_of_npm_is_installed_upgraded_and_brought_back
        install::a_package_of_pypi_that_is_lost_comes_back_as_it_was
        repositories::what_was_read_is_what_is_installed
        containers::an_image_runs_held_by_its_engine
        containers::no_end_leaves_a_container
        downloads::a_program_is_installed_alone_and_out_of_archives
        sources::a_remote_server_is_installed_by_its_url
        sources::an_entry_of_the_registry_says_what_it_wants
        # Hashes, signatures, and what is hostile.
        downloads::signatures_are_checked_and_an_upgrade_is_held_to_the_key
        downloads::what_does_not_come_whole_or_from_elsewhere_is_refused
        repositories::what_is_hostile_or_nothing_is_refused_with_a_reason
        # An installer has nothing of its server's, and its words are passed on.
        popular::an_installer_gets_variables_of_its_own_and_its_server_none_of_them
        installing::a_package_that_is_not_there_fails_with_the_installers_words
        installing::a_stop_wins_over_an_installation
        # What a trial finds out.
        popular::a_server_that_lacks_arguments_says_so_and_its_package_is_kept_for_the_next_try
        upgrading::files_of_an_earlier_server_of_that_name_are_named_before_the_question
        # Real servers, in the sandbox of the list.
        real_servers::everything
        real_servers::filesystem
        real_servers::memory_writes_into_its_data
        real_servers::time
        real_servers::a_node_server_reaches_the_hosts_that_it_was_granted_and_no_others
      )
      printf 'binary(e2e) and test(/^(%s)::/) and not test(/^(%s)$/)' \
        'install|installing|planning|popular|pythons|upgrading|sources|repositories|containers|downloads|real_servers' \
        "$(IFS='|' && printf '%s' "${picked[*]}")"
      ;;
  esac
}

# group_sum GROUP: the sum over its files, as they are now.
group_sum() {
  local patterns
  mapfile -t patterns < <(group_files "$1")
  git -C "$root" ls-files -z --cached --others --exclude-standard -- "${patterns[@]}" | sort -zu |
    while IFS= read -r -d '' file; do [ ! -f "$root/$file" ] || (cd "$root" && sha256sum "$file"); done |
    sha256sum | cut -d ' ' -f 1
}

# group_passed GROUP: the sum with which it passed whole.
group_passed() { sed -n "s/^$1 //p" "$passed_sums" 2>/dev/null || true; }

# note_passed GROUP SUM: writes it down.
note_passed() {
  local others
  others=$(sed "/^$1 /d" "$passed_sums" 2>/dev/null || true)
  printf '%s\n' ${others:+"$others"} "$1 $2" | sort >"$passed_sums"
}
