# Sourced by envs/setup and envs/clean: the clone, whose it is, and who works in it.

# A command substitution would take newlines off the end.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd && printf .)
root=${root%$'\n'.}
state=$root/.setup
# Of kvstudy and of others, by the rules of kvstudy.stores.process and of Snakemake.
home=~
records=${KVSTUDY_STATE:-${XDG_STATE_HOME:-$home/.local/state}/kvstudy}/$(uname -n)
cache=${XDG_CACHE_HOME:-$home/.cache}

say() { printf '%s\n' "$*"; }
fail() { printf 'set-up: %s\n' "$@" >&2; exit 1; }

# What 'sudo make' has made belongs to root.
check_owner() {
    local name places=() foreign user
    for name in .setup .venv servers workflow/bindings/target; do
        [[ ! -e $root/$name ]] || places+=("$root/$name")
    done
    foreign=$(find "$root" -maxdepth 0 ! -writable -print -quit)
    [[ -n $foreign || ${#places[@]} == 0 ]] ||
        foreign=$(find "${places[@]}" ! -type l ! -user "$EUID" ! -writable -print -quit)
    [[ -n $foreign ]] || return 0
    user=$(id -un)
    fail "$foreign belongs to $(stat -c %U "$foreign"), and $user, who calls this, cannot write there." \
        "The clone belongs to $(stat -c %U "$root"). If it is yours, give all of it to yourself:" \
        "  sudo chown -R $user: $(printf %q "$root")" \
        "and call make without sudo: it asks for root's rights where it needs them."
}

is_writable() {
    local folder=$1
    while [[ ! -e $folder ]]; do folder=$(dirname "$folder"); done
    [[ -d $folder && -w $folder && -x $folder ]]
}

# Maven, Snakemake and kvstudy would fail one after the other.
check_home() {
    local lines=()
    is_writable "$records" || lines+=("  KVSTUDY_STATE, kvstudy's locks and records of servers, now $records")
    is_writable "$cache" || lines+=("  XDG_CACHE_HOME, Snakemake's cache, now $cache")
    bindings_ready || [[ ${MAVEN_OPTS:-} == *-Dmaven.repo.local=* ]] || is_writable "$home/.m2" ||
        lines+=("  MAVEN_OPTS=-Dmaven.repo.local=FOLDER, what Maven fetches, now $home/.m2")
    ((${#lines[@]} == 0)) || fail "these folders cannot be written. Set HOME to a folder of yours, or each of:" "${lines[@]}"
}

# What is installed next to a measurement takes cores and disk from it, and .venv from Snakemake.
# The locks are those of kvstudy.measure.controller and kvstudy.stores.process.
be_alone() {
    local lock=$root/.snakemake/kvstudy.lock conflict=75
    if [[ -w $lock ]]; then
        exec 8<>"$lock"
        flock --shared --nonblock --conflict-exit-code $conflict 8 || (($? != conflict)) ||
            fail "Snakemake works in this clone ($(<"$lock"))." \
                "Wait until it has ended ('kvstudy watch' shows how far it is), or end it; then call again."
    fi
    lock=$records/measure.lock
    if [[ -w $lock ]]; then
        exec 7<>"$lock"
        flock --nonblock --conflict-exit-code $conflict 7 || (($? != conflict)) ||
            { say "Waiting: $(<"$lock") ..." && flock 7; }
        printf '%s' "the set-up, process $$ in $root, is installing" >"$lock"
    fi
}
