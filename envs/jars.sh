# Sourced by the install script of a server that consists of files of Maven Central. In the script's
# folder: pom.xml, and SHA256SUMS with the hash of each file. They come to servers/<store>/lib.
#
#   envs/stores/<store>/install             does nothing when all is there
#   envs/stores/<store>/install new-sums    writes SHA256SUMS after an edit of pom.xml
set -euo pipefail

folder=$(cd "$(dirname "$0")" && pwd)
store=$(basename "$folder")
servers=$(cd "$folder/../../.." && pwd)/servers
target=$servers/$store
sums=$folder/SHA256SUMS

say() { printf '%s: %s\n' "$store" "$*"; }
fail() { printf "$store: %s\n" "$@" >&2; exit 1; }
# See kvstudy.stores.install.
unavailable() { printf "$store: %s\n" "$@" >&2; exit 69; }

fetch() {
    MAVEN_OPTS="${MAVEN_OPTS:-} -Djansi.noreset=true" \
        mvn --quiet --batch-mode -Dstyle.color=never --file "$folder/pom.xml" \
        dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$1" ||
        fail "Maven could not fetch the files of $folder/pom.xml; the lines above say why (network?)."
}

# The list of hashes, put there as the last of all, says which server is whole.
is_whole() { cmp -s "$sums" "$target/SHA256SUMS"; }

# Fills $work/lib.
get_files() {
    say "fetching the server with Maven into servers/$store ($1) ..."
    mkdir "$work/lib"
    fetch "$work/lib"
    (cd "$work/lib" && sha256sum --check --quiet --strict "$sums") ||
        fail "a file is not the one of $sums: what Maven fetched or keeps locally was changed."
    cmp -s <(cd "$work/lib" && ls | LC_ALL=C sort) \
        <(sed 's/^[0-9a-f]* [ *]//' "$sums" | LC_ALL=C sort) ||
        fail "Maven fetched other files than those of $sums; after an edit of pom.xml: $0 new-sums"
}

# Puts $work in its place.
finish() {
    cp "$sums" "$work/SHA256SUMS"
    rm -rf "$target"
    mv "$work" "$target"
}

command -v mvn >/dev/null || fail "no program mvn: run make setup first."
mkdir -p "$servers"
work=$servers/.$store-unfinished
rm -rf "$work"
mkdir "$work"
trap 'rm -rf "$work"' EXIT

if [[ ${1:-} == new-sums ]]; then
    fetch "$work"
    (cd "$work" && LC_ALL=C sha256sum -- *) >"$sums"
    say "wrote $sums ($(wc -l <"$sums") files)"
    exit
fi
