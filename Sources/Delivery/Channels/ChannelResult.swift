public import APNS

/// The result of a channel management request.
public struct ChannelResult: Sendable, Hashable {
    public enum Outcome: String, Sendable, Hashable {
        case done
        /// A request that APNs refused, or that the connection pool did not send for a reason other than `unreachable`.
        /// Also a create request that was not sent, because the list request before it had this outcome.
        case refused
        /// A read or list request whose answer is missing, is unreadable, has a 5xx status, or is not from APNs. Also a
        /// create request that was not sent, because the list request before it failed in this way.
        case failed
        /// A create or delete request whose answer is missing, is unreadable, has a 5xx status, or is not from APNs.
        /// APNs may have executed the request. Also a redelivered `create` command, which only lists the channels.
        case unknown
        /// A request for which no connection to APNs could be opened.
        case unreachable
    }

    public var outcome: Outcome
    /// The HTTP status of the answer; nil without an answer.
    public var status: Int?
    /// The reason in the answer; nil without a reason.
    public var reason: String?
    /// The ID of the channel that the request created, read or deleted.
    public var channelID: String?
    /// The storage policy of the channel that was created or read; nil for other results.
    public var storagePolicy: ChannelRequest.StoragePolicy?
    /// The IDs of all channels, from the answer to a list request; nil for other results.
    public var channels: [String]?
    /// The IDs of the channels that were created since the start of a create request with an unknown outcome. nil for
    /// other results, and if the channels could not be listed.
    public var madeSince: [String]?
    /// A description of the failure, for the requester; nil after a success.
    public var sentence: String?

    init(_ outcome: Outcome, sentence: String? = nil) {
        self.outcome = outcome
        self.sentence = sentence
    }
}
