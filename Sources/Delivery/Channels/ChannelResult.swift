public import APNS

/// What became of one request of channel management.
public struct ChannelResult: Sendable, Hashable {
    public enum Outcome: String, Sendable, Hashable {
        case done
        /// APNs has refused it, or it was not sent at all.
        case refused
        /// No answer came that can be read, to what changes nothing.
        case failed
        /// No answer came: it may have been carried out.
        case unknown
        /// No connection to APNs could be had.
        case unreachable
    }

    public var outcome: Outcome
    /// APNs' answer.
    public var status: Int?
    public var reason: String?
    /// Of the channel that was made, read or deleted.
    public var channelID: String?
    public var storagePolicy: ChannelRequest.StoragePolicy?
    /// IDs of all channels, where they were asked for.
    public var channels: [String]?
    /// Channels that were made since an unanswered request to make one; nil when that is not known either.
    public var madeSince: [String]?
    /// What was wrong, for whoever asked.
    public var sentence: String?

    init(_ outcome: Outcome, sentence: String? = nil) {
        self.outcome = outcome
        self.sentence = sentence
    }
}
