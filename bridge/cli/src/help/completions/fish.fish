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

# Whether these words are there, and at least so many behind them.
function __harbor_behind
    set -l plain (__harbor_plain)
    set -l at $argv[2..-1]
    test (count $plain) -ge (math (count $at) + $argv[1]); or return 1
    test "$plain[1..(count $at)]" = "$at"
end

complete -c harbor -f
@RULES@
