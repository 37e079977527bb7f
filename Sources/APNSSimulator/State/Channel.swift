public import APNSProtocol

/// A channel that Live Activities follow (Apple, "Sending channel management requests to APNs").
public struct Channel: Sendable, Hashable {
    /// The policy for the storage of broadcasts for offline devices.
    public enum StoragePolicy: Int, Sendable, CaseIterable {
        /// No storage. Broadcasts must have `apns-expiration: 0`.
        case none = 0
        /// Storage of the newest broadcast, for at most eight hours.
        case newest = 1
    }

    /// The ID, which is standard base64 of random bytes and opaque to providers.
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

    /// Maximum characters of an ID. Apple documents that APNs refuses IDs that are too long, but does not document the
    /// limit.
    public static let idBytesMax = 64

    /// Returns whether the bytes have the form of an ID: 1 to ``idBytesMax`` characters of standard base64 with
    /// padding.
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
