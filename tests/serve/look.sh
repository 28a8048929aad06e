# look ARGUMENT...: `sotto admin health`, patiently. On a busy machine a server is not up, or has not seen its tasks, after
# the pauses of docs/operating.md. Who sees that looks again.
look() {
    for moment in $(seq 60); do
        code=0
        sotto admin health "$@" >seen 2>&1 || code=$?
        [ "$code" -eq 7 ] || { [ -s tasks.txt ] && [ "$(cat seen)" != ready ]; } || break
        sleep 1
    done
    cat seen
    return "$code"
}
