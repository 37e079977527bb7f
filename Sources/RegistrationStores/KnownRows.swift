import APNSProtocol
import Registrations

/// The greatest numbers of the environments and kinds that this version of Martlet knows. A newer version may store
/// rows with greater ones.
enum KnownRows {
    static let environmentMax = APNSEnvironment.allCases.map(\.number).max() ?? 0
    static let kindMax = TokenKind.allCases.map(\.number).max() ?? 0
}
