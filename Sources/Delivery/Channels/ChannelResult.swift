public import APNS

/// The result of a channel management request.
public struct ChannelResult: Sendable, Hashable {
    public enum Outcome: String, Sendable, Hashable {
        case done
        /// APNs refused the request, or the request was not sent.
        case refused
        /// A request that changes nothing got no readable answer.
        case failed
        /// No answer arrived: APNs may have executed the request.
        case unknown
        /// No connection to APNs could be opened.
        case unreachable
    }

    public var outcome: Outcome
    /// The HTTP status of APNs' answer; nil without an answer.
    public var status: Int?
    public var reason: String?
    /// The ID of the channel that was created, read or deleted.
    public var channelID: String?
    public var storagePolicy: ChannelRequest.StoragePolicy?
    /// The IDs of all channels; nil unless they were listed.
    public var channels: [String]?
    /// Channels that were created since an unanswered create request; nil if they could not be listed.
    public var madeSince: [String]?
    /// The failure, for the requester; nil if there was none.
    public var sentence: String?

    init(_ outcome: Outcome, sentence: String? = nil) {
        self.outcome = outcome
        self.sentence = sentence
    }
}
