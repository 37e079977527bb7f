/// A request to manage an app's broadcast channels (Apple, "Sending channel management requests to APNs").
public enum ChannelRequest: Sendable, Hashable {
    /// The policy for broadcasts that APNs stores for offline devices. A channel keeps the policy with which it was
    /// created.
    public enum StoragePolicy: Int, Sendable, Hashable, CaseIterable {
        /// No storage. APNs allows more broadcasts on such a channel.
        case none = 0
        /// Storage of the newest broadcast for at most eight hours.
        case newest = 1
    }

    case create(StoragePolicy)
    /// A request to read the channel with this ID, as issued by APNs.
    case read(String)
    case delete(String)
    case list

    /// Maximum size of an answer in bytes. A list has up to 10,000 IDs, whose size Apple does not document.
    public static let answerBytesMax = 2 << 20

    var method: StaticString {
        switch self {
        case .create: "POST"
        case .read, .list: "GET"
        case .delete: "DELETE"
        }
    }

    /// Whether the request changes channels. APNs may have carried out such a request even if its answer is lost.
    public var isChange: Bool {
        switch self {
        case .create, .delete: true
        case .read, .list: false
        }
    }

    /// The ID of the channel to read or delete; nil for other requests.
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
