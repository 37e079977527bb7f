public import APNSProtocol

/// A channel that Live Activities follow (Apple, "Sending channel management requests to APNs").
public struct Channel: Sendable, Hashable {
    /// What becomes of a message that a device cannot be given at once; settled for ever when the channel is made.
    public enum StoragePolicy: Int, Sendable, CaseIterable {
        /// Nothing is stored; sends must say `apns-expiration: 0`.
        case none = 0
        /// The newest message is stored, for eight hours at most.
        case newest = 1
    }

    /// Standard base64 of random bytes: made by APNs, opaque to everybody else.
    public var id: String
    public var bundleID: String
    public var environment: APNSEnvironment
    public var storagePolicy: StoragePolicy

    public init(id: String, bundleID: String, environment: APNSEnvironment, storagePolicy: StoragePolicy) {
        self.id = id
        self.bundleID = bundleID
        self.environment = environment
        self.storagePolicy = storagePolicy
    }

    /// Characters of an id; Apple says not to assume a size, and that ids can be too long.
    public static let idBytesMax = 64

    /// Whether these bytes can be an id: standard base64, its padding included.
    public static func isWellFormedID(_ bytes: some Collection<UInt8>) -> Bool {
        guard !bytes.isEmpty, bytes.count <= idBytesMax, bytes.count % 4 == 0 else { return false }
        let digits = bytes.reversed().drop { $0 == UInt8(ascii: "=") }
        return bytes.count - digits.count <= 2
            && digits.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
                    true
                default: false
                }
            }
    }
}
