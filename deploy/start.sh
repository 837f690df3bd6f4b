#!/usr/bin/env bash
# Start nginx as the proxy in front of the server. It writes only below PROXY_DATA.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
data="${PROXY_DATA:-/proxy}"
umask 077
cd "$data"
mkdir -p challenges

SITE_ADDRESS="${SITE_ADDRESS:-localhost}"
SITE_ACCESS="${SITE_ACCESS:-open}"
# The sites whose pages may show this one in a frame.
SITE_FRAMES="${SITE_FRAMES:-'none'}"
APP="${APP:-app:8501}"
HTTP_PORT="${HTTP_PORT:-8080}"
HTTPS_PORT="${HTTPS_PORT:-8443}"
BODY_LIMIT="${BODY_LIMIT:-220m}"
ADDRESS_CONNECTIONS="${ADDRESS_CONNECTIONS:-200}"

FRAME_OPTIONS=""
if [ "$SITE_FRAMES" = "'none'" ]; then
  FRAME_OPTIONS=DENY
elif [[ ! "$SITE_FRAMES" =~ ^https?://[][0-9A-Za-z.:*-]+(\ https?://[][0-9A-Za-z.:*-]+)*$ ]]; then
  echo "SITE_FRAMES is $SITE_FRAMES: expected sites such as https://example.org, or nothing." >&2
  exit 1
fi

# Certbot's certificate, or one that browsers warn of.
CERTIFICATE="$data/letsencrypt/live/$SITE_ADDRESS"
if [ ! -r "$CERTIFICATE/fullchain.pem" ]; then
  CERTIFICATE="$data"
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 365 \
    -subj "/CN=$SITE_ADDRESS" -addext "subjectAltName=DNS:$SITE_ADDRESS" \
    -keyout privkey.pem -out fullchain.pem 2> /dev/null
fi

# Any other SITE_ACCESS stops nginx, because there is no such file.
: > open.conf
printf 'auth_basic "BPE Explorer";\nauth_basic_user_file passwords;\n' > password.conf
printf '%s:%s\n' "${SITE_USER:-}" "${SITE_PASSWORD_HASH:-}" > passwords

configuration=$(< "$here/nginx.conf")
for name in SITE_ADDRESS SITE_ACCESS SITE_FRAMES FRAME_OPTIONS APP HTTP_PORT HTTPS_PORT BODY_LIMIT ADDRESS_CONNECTIONS \
  CERTIFICATE; do
  configuration="${configuration//"\${$name}"/"${!name}"}"
done
printf '%s\n' "$configuration" > nginx.conf
exec nginx -p "$data" -c "$data/nginx.conf" -e stderr
