# base_port COUNT: prints the first of COUNT ports on loopback, one after the other, that nobody listens on now, below those
# that the kernel hands out by itself. Tests that use it share the lock base_port in ctest.
base_port() {
    taken=$(awk 'FNR > 1 && $4 == "0A" {split($2, at, ":"); print at[2]}' /proc/net/tcp /proc/net/tcp6)
    first=$((20000 + $$ * 8 % 12000))
    tried=0
    while [ $tried -lt $1 ]; do
        if echo "$taken" | grep -qx "$(printf '%04X' $((first + tried)))"; then
            first=$((first + tried + 1))
            tried=0
        else
            tried=$((tried + 1))
        fi
    done
    echo $first
}
