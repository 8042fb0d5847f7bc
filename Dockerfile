# A small image with the command `agon`, the games and nothing else.
#
#     docker build -t agon --build-arg AGON_COMMIT=$(git rev-parse --short=12 HEAD) .
#     docker run --rm -it agon play tic-tac-toe
#     docker run --rm -p 8080:8080 agon serve --listen 0.0.0.0 --port 8080
#
# The page of `agon serve` is then at http://localhost:8080/ with the token that the server prints.
# Matches and learnt models are in /home/player/.local/share/agon: mount a volume there to keep them.

FROM rust:1.95-slim-bookworm AS build
RUN apt-get update \
    && apt-get install --no-install-recommends --yes gcc libc6-dev make \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /agon
COPY . .
# The commit for the line of provenance on tables: .git is not part of the image.
ARG AGON_COMMIT=
RUN cargo build --locked --profile dist -p agon-cli

FROM debian:bookworm-slim
# Pictures as PNG and GIF are drawn with the fonts of the system.
RUN apt-get update \
    && apt-get install --no-install-recommends --yes fonts-dejavu-core \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /agon/target/dist/agon /usr/local/bin/agon
COPY --from=build /agon/LICENSE-MIT /agon/LICENSE-APACHE /usr/share/doc/agon/
RUN useradd --create-home player
USER player
WORKDIR /home/player
RUN mkdir -p .local/share/agon
EXPOSE 8080 9147
ENTRYPOINT ["agon"]
CMD ["--help"]
