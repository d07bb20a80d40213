# kvstudy with all that it installs, for systems that are not Debian or Ubuntu. In a clone:
#
#   docker build --tag kvstudy .
#   docker run --rm --interactive --tty --volume "$PWD:/kvstudy" kvstudy make study
#
# Results, figures and reports are in the clone then.
FROM debian:12

RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates curl git make \
    && rm -rf /var/lib/apt/lists/* \
    && git config --system --add safe.directory /kvstudy \
    && useradd --create-home kvstudy

WORKDIR /kvstudy
# What the set-up reads, so that an edit of anything else does not set up again.
COPY Makefile pyproject.toml README.md ./
COPY envs envs
COPY workflow workflow
RUN envs/setup study \
    && .venv/bin/kvstudy servers get \
    && rm -rf /var/lib/apt/lists/* /root/.cache /root/.m2 /root/.npm \
    && chmod -R a+rwX .venv .setup servers workflow/bindings/target /home/kvstudy

# A clone that is mounted over this folder keeps what was set up.
VOLUME ["/kvstudy/.venv", "/kvstudy/.setup", "/kvstudy/servers", "/kvstudy/workflow/bindings/target"]
ENV HOME=/home/kvstudy USER=kvstudy PATH="/kvstudy/.venv/bin:$PATH"
USER kvstudy
CMD ["make", "help"]
