/// What is asked of an app's broadcast channels (Apple, "Sending channel management requests to APNs").
public enum ChannelRequest: Sendable, Hashable {
    /// What is kept for devices that are away. Never changed once a channel is made.
    public enum StoragePolicy: Int, Sendable, Hashable, CaseIterable {
        /// Nothing; more broadcasts are allowed.
        case none = 0
        /// The newest broadcast, for at most eight hours.
        case newest = 1
    }

    case create(StoragePolicy)
    /// Of a channel by its ID, as APNs gave it out.
    case read(String)
    case delete(String)
    case list

    /// Largest answer that is read, in bytes: a list has up to 10,000 IDs, whose size is APNs' affair.
    public static let answerBytesMax = 2 << 20

    var method: StaticString {
        switch self {
        case .create: "POST"
        case .read, .list: "GET"
        case .delete: "DELETE"
        }
    }

    /// Whether APNs may have carried out something of which no answer came.
    public var isChange: Bool {
        switch self {
        case .create, .delete: true
        case .read, .list: false
        }
    }

    public var channelID: String? {
        switch self {
        case .read(let id), .delete(let id): id
        case .create, .list: nil
        }
    }

    var body: String {
        switch self {
        case .create(let policy): #"{"message-storage-policy":\#(policy.rawValue),"push-type":"LiveActivity"}"#
        case .read, .delete, .list: ""
        }
    }
}
