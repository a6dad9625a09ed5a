#compdef harbor
# Completion of harbor for zsh, made by `harbor completions zsh`.

@TABLE@
_harbor() {
    emulate -L zsh
    local cur=${words[CURRENT]} word value= command= first= place=0 options places verbs
    local -a choices kinds open
    _harbor_table ''
    for word in "${(@)words[2,CURRENT-1]}"; do
        if [[ -n $value ]]; then
            value=
        elif [[ $word == -- ]]; then
            _files
            return
        elif [[ $word == -* ]]; then
            if [[ " $_harbor_valued " == *" $word "* ]]; then value=$word; fi
        elif [[ -z $command ]]; then
            command=$word
            _harbor_table "$command"
        elif [[ $place == 0 && " $verbs " == *" $word "* ]]; then
            _harbor_table "$command $word"
        else
            [[ $place == 0 ]] && first=$word
            place=$((place + 1))
        fi
    done
    if [[ -n $value ]]; then
        if [[ " $_harbor_paths " == *" $value "* ]]; then _files; fi
        return
    elif [[ $cur == -* ]]; then
        choices=(${=options})
    else
        kinds=(${=places})
        # All behind a tool are its arguments.
        if [[ ${kinds[-1]} == arguments && $place -ge ${#kinds} ]]; then place=$((${#kinds} - 1)); fi
        case ${kinds[place + 1]} in
        commands) choices=(${=_harbor_commands}) ;;
        shells) choices=(${=_harbor_shells}) ;;
        servers | tools | listed | keys | arguments | clients | scopes | origins)
            choices=(${(f)"$(harbor complete ${kinds[place + 1]} "$cur" "$first" 2>/dev/null)"}) ;;
        esac
        if [[ $place == 0 ]]; then choices+=(${=verbs}); fi
    fi
    open=(${(M)choices:#*[/=]})
    choices=(${choices:#*[/=]})
    compadd -S '' -a -- open
    compadd -a -- choices
}

# As a file of the function path it is called by its name; when it is sourced it registers itself.
if [[ ${funcstack[1]} == _harbor ]]; then
    _harbor "$@"
else
    compdef _harbor harbor
fi
