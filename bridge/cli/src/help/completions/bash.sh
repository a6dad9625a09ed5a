# Completion of harbor for bash, made by `harbor completions bash`.

@TABLE@
_harbor() {
    local IFS=$' \t\n'
    local cur word choice value= command= first= place=0 i options places verbs prefix
    local -a choices=() kinds=() words=()
    COMPREPLY=()
    # Bash takes origins and scopes apart at their colons.
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ $i -gt 1 && ($word == :* || ${words[-1]} == *:) ]]; then
            words[-1]+=$word
        else
            words+=("$word")
        fi
    done
    cur=${words[-1]}
    _harbor_table ''
    for ((i = 1; i < ${#words[@]} - 1; i++)); do
        word=${words[i]}
        if [[ $word == = ]]; then
            continue
        elif [[ -n $value ]]; then
            value=
        elif [[ $word == -- ]]; then
            compopt -o default 2>/dev/null
            return 0
        elif [[ $word == -* ]]; then
            if [[ " $_harbor_valued " == *" $word "* ]]; then value=$word; fi
        elif [[ -z $command ]]; then
            command=$word
            _harbor_table "$command"
        elif [[ $place == 0 && " $verbs " == *" $word "* ]]; then
            _harbor_table "$command $word"
        else
            if [[ $place == 0 ]]; then first=$word; fi
            place=$((place + 1))
        fi
    done
    if [[ $cur == = ]]; then cur=; fi
    if [[ -n $value ]]; then
        if [[ " $_harbor_paths " == *" $value "* ]]; then compopt -o default 2>/dev/null; fi
        return 0
    elif [[ $cur == -* ]]; then
        choices=($options)
    else
        kinds=($places)
        # All behind a tool are its arguments.
        if [[ $place -gt 0 && $place -ge ${#kinds[@]} && ${kinds[*]} == *arguments ]]; then place=$((${#kinds[@]} - 1)); fi
        case ${kinds[place]-} in
        commands) choices=($_harbor_commands) ;;
        shells) choices=($_harbor_shells) ;;
        servers | tools | listed | keys | arguments | clients | scopes | origins)
            # Line by line: what a server is called is never run.
            while IFS= read -r choice; do choices+=("$choice"); done \
                < <(harbor complete "${kinds[place]-}" "$cur" "$first" 2>/dev/null)
            ;;
        esac
        if [[ $place == 0 ]]; then choices+=($verbs); fi
    fi
    for choice in "${choices[@]}"; do
        if [[ $choice == "$cur"* ]]; then COMPREPLY+=("$choice"); fi
    done
    if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[/=] ]]; then compopt -o nospace 2>/dev/null; fi
    if [[ $cur == *:* && $COMP_WORDBREAKS == *:* ]]; then
        prefix=${cur%"${cur##*:}"}
        COMPREPLY=("${COMPREPLY[@]#"$prefix"}")
    fi
    return 0
}

complete -F _harbor harbor
