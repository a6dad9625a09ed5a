# Completion of harbor for fish, made by `harbor completions fish`.

@VALUED@
# The words so far that are no options nor their values.
function __harbor_plain
    set -l skip
    for word in (commandline -opc)[2..-1]
        if test -n "$skip"
            set skip
        else if string match -q -- '-*' $word
            contains -- $word $__harbor_valued; and set skip yes
        else
            echo -- $word
        end
    end
end

# Whether the command is this one.
function __harbor_in
    set -l plain (__harbor_plain)
    test "$plain[1]" = "$argv[1]"
end

# Whether these words, and no others, are there so far.
function __harbor_at
    set -l plain (__harbor_plain)
    test "$plain" = "$argv"
end

complete -c harbor -f
@RULES@
