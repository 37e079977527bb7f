public import PostgreSQL

/// The address of a store in a configuration: `sqlite:PATH` or a `postgresql://` URL.
public enum StoreAddress: Sendable, Hashable {
    /// A file that one worker uses.
    case sqlite(path: String)
    case postgresql(PostgresURL)

    /// The reason why a text is not an address. Its description quotes at most a host, since the text may contain a
    /// password.
    public struct Invalid: Error, Sendable, Hashable, CustomStringConvertible {
        public let description: String
    }

    private static let sqliteScheme = "sqlite:"

    /// The file, or the hosts and the database. It does not depend on the user and the options of a URL.
    public var location: String {
        switch self {
        case .sqlite(let path): Self.sqliteScheme + path
        case .postgresql(let url):
            (url.endpoints.hosts.map(\.description) + [url.endpoints.database]).joined(separator: "/")
        }
    }

    public init(_ text: String) throws(Invalid) {
        if text.hasPrefix(Self.sqliteScheme) {
            let path = String(text.dropFirst(Self.sqliteScheme.count))
            // SQLite has its own URIs, and names for databases in memory.
            guard path.hasPrefix("/"), !path.hasPrefix("//"), !path.hasSuffix("/"), !path.utf8.contains(0) else {
                throw Invalid(
                    description: "the store must be sqlite: followed by the absolute path of a file, such as "
                        + "sqlite:/var/lib/martlet/registrations.db")
            }
            self = .sqlite(path: path)
        } else if text.hasPrefix("postgresql://") || text.hasPrefix("postgres://") {
            do throws(PostgresError) {
                self = .postgresql(try PostgresURL(text))
            } catch {
                throw Invalid(description: error.message)
            }
        } else {
            throw Invalid(
                description: "the store must be sqlite:/PATH, for one worker, or postgresql://USER@HOST/DATABASE, for "
                    + "several workers")
        }
    }
}
