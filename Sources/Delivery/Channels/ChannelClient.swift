public import APNS
import APNSProtocol
public import Crypto
public import EventLoop

/// A client that manages the broadcast channels of apps through one connection pool.
///
/// The client never resends a create or delete request that APNs may have executed. An unanswered create request may
/// have created the channel (Apple, "Sending channel management requests to APNs").
///
/// Loop-bound.
public final class ChannelClient {
    private let pool: APNSPool
    private let failure: ConnectFailure

    /// Creates a client. Call this initializer on the loop's thread.
    ///
    /// - Parameters:
    ///   - configuration: The configuration of the pool, with the channel management host as its authority. The client
    ///     replaces `connectionsMax` and `answerBytesMax`.
    ///   - tokens: The source of the provider tokens; nil if the pool signs its own tokens or uses a certificate.
    public init(
        loop: EventLoop, connector: ByteConnector, configuration: PoolConfiguration, tokens: TokenSupply? = nil
    ) {
        var configuration = configuration
        configuration.connectionsMax = 1
        configuration.answerBytesMax = ChannelRequest.answerBytesMax
        pool = APNSPool(loop: loop, connector: connector, configuration: configuration, tokens: tokens)
        failure = ConnectFailure(of: pool)
    }

    /// Sends a request and returns its result. For a create request, the client also lists the channels before the
    /// request, and again if the outcome of the request is unknown. The client does not send the create request if the
    /// first list request has another outcome than `done`.
    ///
    /// - Parameters:
    ///   - bundleID: The bundle ID of an app that the pool's credential is valid for.
    ///   - id: The `apns-request-id` of all HTTP requests for `request`. Apple's support finds the requests by this ID.
    public func perform(_ request: ChannelRequest, of bundleID: String, id: UUIDValue) async -> ChannelResult {
        guard case .create(let policy) = request else { return await send(request, bundleID, id) }
        // If the outcome of the create request is unknown, a comparison with this list shows the new channels.
        let before = await send(.list, bundleID, id)
        guard before.outcome == .done else { return before.asCreateFailure }
        var result = await send(request, bundleID, id)
        if result.outcome == .done { result.storagePolicy = policy }
        guard result.outcome == .unknown else { return result }
        let known = Set(before.channels ?? [])
        result.madeSince = await send(.list, bundleID, id).channels?.filter { !known.contains($0) }
        result.sentence = "\(result.sentence ?? "") \(Self.sentence(ofNew: result.madeSince))"
        return result
    }

    private static func sentence(ofNew channels: [String]?) -> String {
        switch channels?.count {
        case nil: "Run martlet channels list before you create another channel."
        case 0: "No channel has been created so far."
        case 1: "One new channel exists, created by this request or by another client."
        case let count?: "\(count) new channels exist, of which this request perhaps created one."
        }
    }

    private func send(_ request: ChannelRequest, _ bundleID: String, _ id: UUIDValue) async -> ChannelResult {
        let outcome = await pool.send(.channels(request, bundleID: Array(bundleID.utf8), id: id))
        switch outcome {
        case .answered(let answer):
            return ChannelResult(answer, to: request)
        case .unknown(let reason, _):
            return request.isChange
                ? ChannelResult(.unknown, sentence: "APNs may have executed the request: \(reason).")
                : ChannelResult(.failed, sentence: "APNs did not answer: \(reason).")
        case .notSent(.certificateRefused(let refusal)):
            return ChannelResult(.refused, sentence: HoldReason(refusal).sentence)
        case .notSent(.noConnection):
            let sentence = failure.error.map { HoldReason($0).sentence } ?? "No connection to APNs opened in time."
            return ChannelResult(.unreachable, sentence: sentence)
        case .notSent(let reason):
            return ChannelResult(.refused, sentence: "The request was not sent: \(reason).")
        }
    }

    /// Applies a provider token update: a new token, or the notice that no new token replaces a refused one.
    public func apply(_ update: ProviderTokenUpdate) { pool.apply(update) }

    /// Closes the connection.
    public func close() { pool.close() }
}

extension ChannelResult {
    fileprivate init(_ answer: PushAnswer, to request: ChannelRequest) {
        if case .delete(let id) = request, answer.reason == .channelNotRegistered {
            // The channel does not exist, as requested.
            self.init(.done)
            (status, reason, channelID) = (answer.status, answer.reason?.text, id)
            return
        }
        let unanswered = request.isChange ? Outcome.unknown : .failed
        guard let channel = answer.channel else {
            self.init(answer.isFromAPNS && answer.status < 500 ? .refused : unanswered, sentence: answer.explained)
            (status, reason) = (answer.status, answer.reason?.text)
            return
        }
        self.init(.done)
        status = answer.status
        switch request {
        case .create: channelID = channel.channelID
        case .read(let id): (channelID, storagePolicy) = (id, channel.storagePolicy)
        case .delete(let id): channelID = id
        case .list: channels = channel.channels
        }
        // The answer must contain the requested value.
        let isWhole =
            switch request {
            case .create: channelID != nil
            case .read: storagePolicy != nil
            case .delete: true
            case .list: channels != nil
            }
        if !isWhole { (outcome, sentence) = (unanswered, "The answer of APNs is unreadable.") }
    }

    /// The result of a create request that was not sent because the channels could not be listed.
    fileprivate var asCreateFailure: ChannelResult {
        var result = self
        result.sentence = "No channel was created: cannot list the existing channels: \(sentence ?? "")"
        return result
    }
}
