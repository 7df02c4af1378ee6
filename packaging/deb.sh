#!/bin/bash
# Makes a Debian package of an installed tree. Called by `make deb`.
#
# usage: packaging/deb.sh FOLDER VERSION
#   FOLDER/root has what `make install PREFIX=/usr` left; FOLDER/abba_VERSION_ARCH.deb is made.
# The same tree gives the same package: all times are those of the last commit (SOURCE_DATE_EPOCH).
set -eu
folder=$1 version=${2//-/+} # a hyphen would begin a Debian revision
here=$(cd "$(dirname "$0")" && pwd)
root=$folder/root
doc=$root/usr/share/doc/abba
arch=$(dpkg --print-architecture)
: "${SOURCE_DATE_EPOCH:=$(git -C "$here" log -1 --format=%ct 2>/dev/null || date +%s)}"
: "${DEB_MAINTAINER:=The abba authors <abba@packages.example.org>}"
export SOURCE_DATE_EPOCH

find "$root" -type f \( -path '*/bin/*' -o -path '*/libexec/*' \) -exec \
    sh -c 'for f; do if head -c 4 "$f" | grep -q ELF; then strip --strip-unneeded -R .comment -R .note "$f"; fi; done' sh {} +
find "$root" -type f -name '*.so' -exec chmod 644 {} +

install -m 644 "$here/copyright" "$doc/copyright"
install -D -m 644 "$here/lintian-overrides" "$root/usr/share/lintian/overrides/abba"
{
    printf 'abba (%s) unstable; urgency=medium\n\n' "$version"
    printf '  * What changed: CHANGELOG.md.gz in this folder.\n\n'
    printf ' -- %s  %s\n' "$DEB_MAINTAINER" "$(LC_ALL=C date -R -u -d "@$SOURCE_DATE_EPOCH")"
} >"$doc/changelog"
gzip -9nf "$doc/changelog" "$doc/CHANGELOG.md" "$root"/usr/share/man/man1/*.1

# dpkg-shlibdeps wants a source tree's file; it looks at what is linked, not at what is loaded later.
mkdir -p "$folder/debian" "$root/DEBIAN"
printf 'Source: abba\n\nPackage: abba\nArchitecture: any\n' >"$folder/debian/control"
mapfile -t programs < <(find "$root/usr/bin" "$root/usr/libexec" -type f -exec \
    sh -c 'for f; do if head -c 4 "$f" | grep -q ELF; then echo "$f"; fi; done' sh {} + | sort)
depends=$(cd "$folder" && dpkg-shlibdeps -O --ignore-missing-info "${programs[@]}" 2>/dev/null |
    sed -n 's/^shlibs:Depends=//p')
# base/curl_late.c loads it when it is first called.
depends="$depends, $(dpkg-query -S '*/libcurl.so.4' | sed 's/:.*//; 1q')"

sed -e "s|@VERSION@|$version|; s|@ARCH@|$arch|; s|@MAINTAINER@|$DEB_MAINTAINER|" \
    -e "s|@DEPENDS@|$depends|; s|@SIZE@|$(du -k -s --apparent-size "$root/usr" | cut -f1)|" \
    "$here/control.in" >"$root/DEBIAN/control"
(cd "$root" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
find "$root" -type d -exec chmod 755 {} +
dpkg-deb --root-owner-group -Zxz --build "$root" "$folder/abba_${version}_$arch.deb" >/dev/null
echo "$folder/abba_${version}_$arch.deb"
