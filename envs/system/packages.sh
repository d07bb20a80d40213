# Sourced by envs/setup: the distribution's packages of packages.txt, what is there of them, and apt.
packages=$root/envs/system/packages.txt
os_release=${OS_RELEASE:-/etc/os-release}
# Another apt or dpkg is waited for that long: a new cloud machine upgrades itself for minutes.
apt_wait_s=${APT_WAIT_S:-900}

find_python() {
    local version=$1 candidate
    for candidate in ${PYTHON:+"$PYTHON"} /usr/bin/python3 python3 python3.13 python3.12 python3.11; do
        candidate=$(command -v "$candidate") || continue
        [[ $candidate != "$venv"/* ]] || continue
        # Debian's python3 has venv but no ensurepip until python3-venv is there.
        if "$candidate" -c "import sys, venv, ensurepip
sys.exit(sys.version_info < tuple(map(int, '$version'.split('.'))))" 2>/dev/null; then
            say "$candidate"
            return
        fi
    done
    return 1
}

has_java() {
    local major
    command -v java javac >/dev/null || return 1
    major=$(javac -version 2>&1 | sed -n 's/^javac \([0-9]*\).*/\1/p')
    [[ -n $major ]] && ((major >= $1))
}

is_there() {
    local check
    for check in ${1//,/ }; do
        case $check in
            # Users have no /usr/sbin on their path.
            command:*) PATH="$PATH:/usr/sbin" command -v "${check#*:}" >/dev/null || return 1 ;;
            tex:*) kpsewhich "${check#*:}" >/dev/null 2>&1 || return 1 ;;
            python:*) find_python "${check#*:}" >/dev/null || return 1 ;;
            # Not on the path of users, but there on every Debian.
            library:*) grep -qF "${check#*:} " <<<"$(/sbin/ldconfig -p)" || return 1 ;;
            java:*) has_java "${check#*:}" || return 1 ;;
            file:*) compgen -G "${check#*:}" >/dev/null || return 1 ;;
            *) fail "$packages: unknown check '$check'; use command:, tex:, library:, python:, java: or file:" ;;
        esac
    done
}

# Whether an apt that was interrupted has left the package: its files are there, but not configured.
is_unfinished() {
    dpkg-query --show --showformat '${db:Status-Status}\n' "$1" 2>/dev/null |
        grep -qvxE 'installed|not-installed|config-files'
}

# Lines "package services reason" of the groups, all or only those that are missing.
listed() {
    local which=$1 group package check services reason
    while read -r group package check services reason; do
        [[ -n $group && $group != \#* && " ${groups[*]} " == *" $group "* ]] || continue
        [[ $which == all ]] || ! is_there "$check" || is_unfinished "$package" || continue
        say "$package $services $reason"
    done <"$packages"
}

print_list() {
    local group package check services reason presence
    while read -r group package check services reason; do
        [[ -n $group && $group != \#* ]] || continue
        presence=missing
        ! is_there "$check" || presence=there
        printf '%-10s %-26s %-8s %s\n' "$group" "$package" "$presence" "$reason"
    done <"$packages"
}

# --- distribution packages -----------------------------------------------------------------

known_distribution() {
    [[ -r $os_release ]] && command -v apt-get >/dev/null || return 1
    case $(. "$os_release" && say "${ID:-}-${VERSION_ID:-}") in
        debian-12 | debian-13 | ubuntu-24.04) ;;
        *) return 1 ;;
    esac
}

# Without our locks: a service that a package starts would hold them.
as_root() {
    if ((EUID == 0)); then "$@"; else sudo "$@"; fi
} 7>&- 8>&- 9>&-

refuse() {
    local package services reason
    say "set-up: $1" >&2
    say "Install these yourself (names of Debian 12; what counts is the program), then call again:" >&2
    while read -r package services reason; do
        printf '  %-26s %s\n' "$package" "$reason" >&2
    done <<<"$2"
    say "On Debian or Ubuntu: apt-get install --no-install-recommends" \
        "$(cut -d' ' -f1 <<<"$2" | paste -sd' ')" >&2
    exit 1
}

service_exists() {
    local folder
    [[ -e /etc/init.d/$1 ]] && return
    for folder in /etc /lib /usr/lib; do
        [[ -e $folder/systemd/system/$1 || -e $folder/systemd/system/$1.service ]] && return
    done
    return 1
}

# A store's package starts its server at once and at every boot: it would run next to the
# measurements. Only services that came with this set-up are switched off.
stop_new_services() {
    local service
    [[ -e $state/new-services ]] || return 0
    while read -r service; do
        service_exists "$service" || continue
        say "  switching off the service $service, which came with its package"
        if [[ -d /run/systemd/system ]]; then
            as_root systemctl --quiet disable --now "$service"
            continue
        fi
        # Without systemd (container, chroot) the package still calls the init script.
        [[ ! -e /etc/init.d/$service ]] || as_root "/etc/init.d/$service" stop >/dev/null || true
        if command -v systemctl >/dev/null; then
            as_root systemctl --quiet disable "$service" >/dev/null 2>&1 || true
        elif [[ -e /etc/init.d/$service ]]; then
            as_root update-rc.d "$service" disable >/dev/null 2>&1 || true
        fi
    done <"$state/new-services"
    rm -f "$state/new-services"
}

# Run apt-get or dpkg once no other one works; its own DPkg::Lock::Timeout knows one of four locks.
apt() {
    local end=$((SECONDS + apt_wait_s)) holder seen=
    until as_root env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@" >"$state/apt.last" 2>&1; do
        cat "$state/apt.last" >>"$state/apt.log"
        holder=$(sed -nE -e 's/^E: Could not get lock .* held by (.*)/\1/p' \
            -e 's/^dpkg: error: .* lock (is|was) locked by (.*)/\2/p' "$state/apt.last")
        [[ -n $holder ]] || return 1
        [[ $holder == "$seen" ]] || say "  waiting, at most $((apt_wait_s / 60)) min: $holder uses apt or dpkg"
        seen=$holder
        ((SECONDS < end)) || fail "$holder still uses apt or dpkg." "Wait until it has ended, then call again."
        sleep 2
    done
    cat "$state/apt.last" >>"$state/apt.log"
}

install_packages() {
    local missing=$1 names package services reason service
    mapfile -t names < <(cut -d' ' -f1 <<<"$missing")
    # Asks for a password only if sudo needs one; -v would need it for each rule that fits.
    ((EUID == 0)) || sudo true || refuse "sudo refused." "$missing"
    while read -r package services reason; do
        for service in ${services//,/ }; do
            [[ $service == - ]] || service_exists "$service" || say "$service"
        done
    done <<<"$missing" >>"$state/new-services"
    # Whatever interrupts apt, the services that it has started by then are stopped.
    trap stop_new_services EXIT
    : >"$state/apt.log"
    say "Installing packages with apt (log: .setup/apt.log) ..."
    apt dpkg --configure -a && apt apt-get -q -y update &&
        apt apt-get -q -y install --fix-broken --no-install-recommends "${names[@]}" || {
        tail -n 15 "$state/apt.log" >&2
        fail "apt could not install: ${names[*]}" \
            "mend what the lines above say (network? on Ubuntu: is 'universe' enabled?), call again."
    }
    trap - EXIT
    stop_new_services
    # For who wants to remove them, see envs/clean.
    printf '%s\n' "${names[@]}" >>"$state/installed-packages"
    missing=$(listed missing)
    [[ -z $missing ]] || refuse "apt installed the packages, but these are still not found." "$missing"
}
