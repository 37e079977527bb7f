public import APNS
import APNSProtocol
public import Crypto
public import EventLoop

/// Manages the broadcast channels of apps by one connection pool. Nothing that APNs may have carried out is sent again: a
/// request to make a channel that is not answered may have made one (Apple, "Sending channel management requests to
/// APNs").
///
/// Belongs to one loop and is used on its thread only.
public final class ChannelClient {
    private let pool: APNSPool
    private let failure: ConnectFailure

    /// To be called on the loop's thread.
    ///
    /// - Parameters:
    ///   - configuration: with the host of channel management as its authority.
    ///   - tokens: where a key's provider tokens come from; nil: it signs its own.
    public init(
        loop: EventLoop, connector: ByteConnector, configuration: PoolConfiguration, tokens: TokenSupply? = nil
    ) {
        var configuration = configuration
        configuration.connectionsMax = 1
        configuration.answerBytesMax = ChannelRequest.answerBytesMax
        pool = APNSPool(loop: loop, connector: connector, configuration: configuration, tokens: tokens)
        failure = ConnectFailure(of: pool)
    }

    /// - Parameters:
    ///   - bundleID: of an app that the pool's credential is for.
    ///   - id: `apns-request-id` of all that is sent for it, so that Apple's support finds it together.
    public func ask(_ request: ChannelRequest, of bundleID: String, id: UUIDValue) async -> ChannelResult {
        guard case .create(let policy) = request else { return await send(request, bundleID, id) }
        // To know afterwards what is new, should no answer come.
        let before = await send(.list, bundleID, id)
        guard before.outcome == .done else { return before.insteadOfACreate }
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
        case nil: "Look at martlet channels list before you make another."
        case 0: "No channel was made up to now."
        case 1: "One channel is new since then, by this request or somebody else's."
        case let count?: "\(count) channels are new since then, one of them perhaps by this request."
        }
    }

    private func send(_ request: ChannelRequest, _ bundleID: String, _ id: UUIDValue) async -> ChannelResult {
        let outcome = await pool.send(.channels(request, bundleID: Array(bundleID.utf8), id: id))
        switch outcome {
        case .answered(let answer):
            return ChannelResult(answer, to: request)
        case .unknown(let reason, _):
            return request.isChange
                ? ChannelResult(.unknown, sentence: "It is not known whether APNs has done it: \(reason).")
                : ChannelResult(.failed, sentence: "APNs has not answered: \(reason).")
        case .notSent(.certificateRefused(let refusal)):
            return ChannelResult(.refused, sentence: HoldReason(refusal).sentence)
        case .notSent(.noConnection):
            let sentence = failure.error.map { HoldReason($0).sentence } ?? "No connection could be had in time."
            return ChannelResult(.unreachable, sentence: sentence)
        case .notSent(let reason):
            return ChannelResult(.refused, sentence: "It was not sent: \(reason).")
        }
    }

    /// There is a new provider token, or none for one that was refused.
    public func take(_ update: ProviderTokenUpdate) { pool.take(update) }

    /// Ends the connection.
    public func close() { pool.close() }
}

extension ChannelResult {
    fileprivate init(_ answer: PushAnswer, to request: ChannelRequest) {
        if case .delete(let id) = request, answer.reason == .channelNotRegistered {
            // Gone is what was asked for.
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
        // What was asked for has to be there.
        let isWhole =
            switch request {
            case .create: channelID != nil
            case .read: storagePolicy != nil
            case .delete: true
            case .list: channels != nil
            }
        if !isWhole { (outcome, sentence) = (unanswered, "APNs' answer cannot be read.") }
    }

    /// Of the list before one.
    fileprivate var insteadOfACreate: ChannelResult {
        var result = self
        result.sentence = "No channel was made: the channels before could not be listed: \(sentence ?? "")"
        return result
    }
}
