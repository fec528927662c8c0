#!/bin/sh
# packages.sh - finds out what this machine lacks for the groups named as arguments, and installs it where it can.
#
#   sh tests/packages.sh build plots tests deep
#
# It looks for the things themselves (a program, a header, the run-time of clang's fuzzer), not for packages, so on a
# system with other packages it asks for nothing that is there. Installing is for Debian and its kin: with apt-get,
# through sudo when not root. On a terminal it asks first; without one, or with YES=1, it goes on. Where it cannot
# install it names what is missing and the command to type, and exits 1. With nothing missing it takes 50 ms
# (deep 250 ms).
set -eu

# Group, kind and thing, then its package on Debian, Fedora, Arch, Alpine and Homebrew (+ joins two, - is none).
catalogue='
build compiler cc                gcc               gcc                gcc      gcc             gcc
build program pkg-config         pkg-config        pkgconf-pkg-config pkgconf  pkgconf         pkgconf
build header  stdio.h            libc6-dev         glibc-devel        glibc    musl-dev        -
build header  gsl/gsl_rng.h      libgsl-dev        gsl-devel          gsl      gsl-dev         gsl
build header  csv.h              libcsv-dev        libcsv-devel       libcsv   libcsv-dev      libcsv
build header  yaml.h             libyaml-dev       libyaml-devel      libyaml  yaml-dev        libyaml
build header  Random123/philox.h librandom123-dev  Random123-devel    random123 random123-dev  random123
build header  sleef.h            libsleef-dev      sleef-devel        sleef    sleef-dev       sleef
plots program gnuplot            gnuplot-nox       gnuplot-minimal    gnuplot  gnuplot         gnuplot
tests header  check.h            check             check-devel        check    check-dev       check
tests program jq                jq                jq                 jq       jq              jq
tests program lua5.1            lua5.1            compat-lua         lua51    lua5.1          lua@5.1
tests program python3           python3           python3            python   python3         python
tests comma   de_DE              locales           glibc-locale-source glibc   -               -
deep  program gcc                gcc               gcc+libasan+libubsan+libtsan gcc gcc        gcc
deep  program nm                 binutils          binutils           binutils binutils        binutils
deep  program clang              clang             clang              clang    clang           llvm
deep  program clang-format       clang-format      clang-tools-extra  clang    clang-extra-tools clang-format
deep  fuzzer  libFuzzer          clang+libclang-rt-dev compiler-rt    compiler-rt compiler-rt  llvm
'

# One run of the preprocessor asks for every header; without a compiler all count as missing.
absent_headers()
{
    echo "$catalogue" |
        awk '$2 == "header" { printf "#if !__has_include(<%s>)\n\"%s\"\n#endif\n", $3, $3 }' |
        $compiler -E -P -x c - 2>/dev/null || echo "$catalogue" | awk '$2 == "header" { print "\"" $3 "\"" }'
}

fuzzer_links()
{
    echo 'int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long size);
          int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long size) { return !data && size; }' |
        ${CLANG:-clang} -fsanitize=fuzzer,address,undefined -x c - -o /dev/null 2>/dev/null
}

# A locale with a decimal comma: one that is there, or its source; a system that cannot make locales needs none.
has_comma_locale()
{
    ! command -v localedef >/dev/null || [ -e "/usr/share/i18n/locales/$1" ] || locale -a | grep -q "^$1"
}

present() # KIND THING
{
    case $1 in
    compiler) command -v "${compiler%% *}" >/dev/null ;;
    program) command -v "$2" >/dev/null ;;
    header) case $absent in *"\"$2\""*) return 1 ;; esac ;;
    comma) has_comma_locale "$2" ;;
    fuzzer) fuzzer_links ;;
    esac
}

# The rows of the catalogue that the groups need and this machine lacks.
missing_rows()
{
    absent=$(absent_headers)
    echo "$catalogue" | while read -r group kind thing packages; do
        case " $groups " in
        *" $group "*) present "$kind" "$thing" || echo "$group $kind $thing $packages" ;;
        esac
    done
}

packages_of() # COLUMN, 1 is Debian
{
    echo "$rows" | awk -v column="$1" '{
        count = split($(column + 3), names, "+")
        for (i = 1; i <= count; i++)
            if (names[i] != "-" && !seen[names[i]]++)
                printf "%s%s", (started++ ? " " : ""), names[i]
    }'
}

give_up() # WHY
{
    {
        echo "weir: $1. Missing: $(echo "$rows" | awk '{ printf "%s%s", (NR > 1 ? ", " : ""), $3 }')"
        echo "  Debian, Ubuntu: ${sudo:+sudo }apt-get install --no-install-recommends $(packages_of 1)"
        echo "  Fedora:         ${sudo:+sudo }dnf install $(packages_of 2)"
        echo "  Arch:           ${sudo:+sudo }pacman -S $(packages_of 3)"
        echo "  Alpine:         ${sudo:+sudo }apk add $(packages_of 4)"
        echo "  Homebrew:       brew install $(packages_of 5)"
        echo "Package names differ between releases; what a system does not package installs from its source."
    } >&2
    exit 1
}

agreed()
{
    if [ "${YES:-}" = 1 ] || ! [ -t 0 ] || ! [ -t 2 ]; then
        return 0
    fi
    printf 'weir needs these packages: %s\nInstall them with apt-get? [Y/n] ' "$(packages_of 1)" >&2
    read -r answer || return 1
    case $answer in
    '' | [Yy]*) return 0 ;;
    *) return 1 ;;
    esac
}

# A lock that somebody else holds, a mirror that does not answer at once.
patience='-o DPkg::Lock::Timeout=300 -o Acquire::Retries=5'

# shellcheck disable=SC2086 # options, to be split
apt() # its progress is for a terminal, its errors for everybody
{
    if [ -t 2 ]; then
        $sudo env DEBIAN_FRONTEND=noninteractive apt-get -q $patience "$@" >&2
    else
        $sudo env DEBIAN_FRONTEND=noninteractive apt-get -qq $patience "$@" >/dev/null
    fi
}

groups=$*
compiler=${CC:-cc}
rows=$(missing_rows)
[ -n "$rows" ] || exit 0

sudo=
[ "$(id -u)" = 0 ] || sudo=sudo
command -v apt-get >/dev/null || give_up 'packages are missing and there is no apt-get here'
[ -z "$sudo" ] || command -v sudo >/dev/null || give_up 'packages are missing, and only root can install them'
agreed || give_up 'nothing was installed'
echo "  GET    $(packages_of 1)" >&2
apt update || give_up 'apt-get cannot update its lists'
# shellcheck disable=SC2046 # a list of names, to be split
apt install -y --no-install-recommends $(packages_of 1) || give_up 'apt-get could not install'
rows=$(missing_rows)
[ -z "$rows" ] || give_up 'something is missing still after the installation'
