# Completion of harbor for bash, made by `harbor completions bash`.
_harbor() {
    local IFS=$' \t\n'
    local cur i word choice prefix
    local -a words=()
    COMPREPLY=()
    # Bash takes origins and scopes apart at their colons, arguments at their equal signs.
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ $i -gt 1 && ($word == [:=]* || ${words[-1]} == *[:=]) ]]; then
            words[-1]+=$word
        elif [[ $i -lt $COMP_CWORD && $word == -- ]]; then
            compopt -o default 2>/dev/null
            return 0
        else
            words+=("$word")
        fi
    done
    cur=${words[-1]}
    # Line by line: what a server is called is never run. The last line has no end.
    while IFS= read -r choice || [[ -n $choice ]]; do
        if [[ -n $choice && ($cur == -* || $choice != -*) ]]; then COMPREPLY+=("$choice"); fi
    done < <(HARBOR_COMPLETE=bash _CLAP_COMPLETE_INDEX=$((${#words[@]} - 1)) harbor -- "${words[@]}" 2>/dev/null)
    if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[/=] ]]; then compopt -o nospace 2>/dev/null; fi
    if [[ $cur == *[:=]* ]]; then
        prefix=${cur%"${cur##*[:=]}"}
        COMPREPLY=("${COMPREPLY[@]#"$prefix"}")
    fi
    return 0
}

complete -F _harbor harbor
