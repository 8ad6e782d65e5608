/** The servers that split mode needs, and the gRPC client that the tests need, which is obtained in the same ways. */
export type ServerName = "nats-server" | "minio" | "grpcurl";

export type ServerSource = {
  /** Names an executable and goes before all else. */
  variable: string;
  /** The pinned Go module version that is built where nothing else is there. */
  goPackage: string;
  goVersion: string;
  /** How long that takes on two cores, for the person who waits. */
  buildTime: string;
  /** An image that holds the executable (a static program, so it runs outside the container). */
  image: string;
  imagePath: string;
  /** Whether the text that `--version` prints names a version that will do. */
  accepts: (versionText: string) => boolean;
  /** What `accepts` asks for. */
  needs: string;
};

const natsMin = [2, 12] as const;

export const serverSources: Readonly<Record<ServerName, ServerSource>> = {
  "nats-server": {
    variable: "TIDEMARK_NATS_SERVER",
    goPackage: "github.com/nats-io/nats-server/v2",
    goVersion: "v2.15.2",
    buildTime: "about half a minute",
    image: "nats:2.15.2",
    imagePath: "/nats-server",
    // Debian's 2.9 refuses sync_interval: always, without which an acknowledged message may be lost.
    accepts: (text) => isAtLeast(/v?(\d+)\.(\d+)/.exec(text), natsMin),
    needs: `version ${natsMin.join(".")} or newer`,
  },
  minio: {
    variable: "TIDEMARK_MINIO",
    goPackage: "github.com/minio/minio",
    // It has no releases for Go; this is the commit of its last one.
    goVersion: "v0.0.0-20260212201848-7aac2a2c5b7c",
    buildTime: "about three minutes",
    image: "minio/minio:RELEASE.2025-09-07T16-13-09Z",
    imagePath: "/usr/bin/minio",
    accepts: (text) => text.startsWith("minio version "),
    needs: "a MinIO server",
  },
  grpcurl: {
    variable: "TIDEMARK_GRPCURL",
    goPackage: "github.com/fullstorydev/grpcurl/cmd/grpcurl",
    goVersion: "v1.9.3",
    buildTime: "about a minute",
    image: "fullstorydev/grpcurl:v1.9.3",
    imagePath: "/bin/grpcurl",
    // Built with Go it does not know its version.
    accepts: (text) => text.startsWith("grpcurl "),
    needs: "grpcurl",
  },
};

function isAtLeast(match: RegExpExecArray | null, [major, minor]: readonly [number, number]): boolean {
  const [a, b] = [Number(match?.[1]), Number(match?.[2])];
  return a > major || (a === major && b >= minor);
}
