import APNSProtocol
import Crypto
import EventLoop
import JSON

/// The rules for channel management: creating, reading, listing and deleting channels (Apple, "Sending channel
/// management requests to APNs"). The rules apply accepted requests to the state.
struct ChannelRules {
    private let parser = JSONParser(limits: JSONLimits(bytesMax: Request.bodyBytesKeptMax, depthMax: 16))

    func decision(
        about request: Request, on connection: inout ConnectionMemory, state: inout SimulatorState, now: Now,
        random: inout SeededRandom
    ) -> Decision {
        do throws(Refusal) {
            let answer = try check(request, on: &connection, state: &state, now: now, random: &random)
            return Decision(answer: answer, isAuthenticated: true)
        } catch {
            return Decision(error, state.rules)
        }
    }

    private enum Operation { case create, read, delete, list }

    private func check(
        _ request: Request, on connection: inout ConnectionMemory, state: inout SimulatorState, now: Now,
        random: inout SeededRandom
    ) throws(Refusal) -> Answer {
        let (operation, bundleID) = try target(of: request, state.rules)
        var sender = Sender.anyone
        if state.rules.order == .authenticationFirst {
            sender = try connection.sender(of: request, state: state, now: now)
        }
        if request.hasDuplicateHeaders(state.rules) { throw Refusal(reason: .duplicateHeaders) }
        try ChannelRequestChecks.checkID(of: request, state.rules)
        if state.rules.order == .headersFirst {
            sender = try connection.sender(of: request, state: state, now: now)
        }
        do throws(Refusal) {
            try connection.checkChannelAccess(of: sender, bundleID: bundleID, state: state)
            let environment = connection.service.environment
            return switch operation {
            case .create: try create(request, bundleID, environment, in: &state, random: &random)
            case .read: Self.description(of: try channel(of: request, bundleID, environment, in: state))
            case .delete: try delete(request, bundleID, environment, in: &state)
            case .list: Self.list(state.channels(bundleID: bundleID, environment: environment))
            }
        } catch {
            throw error.ofAuthenticated
        }
    }

    /// Returns the operation of a request and the app in its path, which is `/1/apps/BUNDLE/channels` or
    /// `/1/apps/BUNDLE/all-channels`.
    private func target(
        of request: Request, _ options: RuleOptions
    ) throws(Refusal) -> (operation: Operation, bundleID: String) {
        let prefix = RequestPath.channelPrefix.bytes
        guard let path = request[.path], path.starts(with: RequestPath.channelPrefix) else {
            throw Refusal(reason: .badPath)
        }
        let rest = UnsafeRawBufferPointer(rebasing: path[prefix.count...])
        let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.count
        let bundleID = UnsafeRawBufferPointer(rebasing: rest[..<end])
        let collection = UnsafeRawBufferPointer(rebasing: rest[end...])
        let isList = collection.equals(RequestPath.allChannels)
        guard HeaderForm.isTopic(bundleID), isList || collection.equals(RequestPath.channels) else {
            throw Refusal(reason: .badPath)
        }
        let operation: Operation? =
            switch request[.method].map({ String(decoding: $0, as: UTF8.self) }) {
            case "GET": isList ? .list : .read
            case "POST": isList ? nil : .create
            case "DELETE": isList ? nil : .delete
            default: nil
            }
        guard let operation else { throw Refusal(reason: options.wrongMethodReason) }
        return (operation, String(decoding: bundleID, as: UTF8.self))
    }

    private func create(
        _ request: Request, _ bundleID: String, _ environment: APNSEnvironment, in state: inout SimulatorState,
        random: inout SeededRandom
    ) throws(Refusal) -> Answer {
        let storagePolicy = try storagePolicy(in: request)
        guard state.hasRoomForChannel(bundleID: bundleID, environment: environment) else {
            throw Refusal(reason: .cannotCreateChannelConfig)
        }
        let id = Self.makeID(&random)
        state.add(Channel(id: id, bundleID: bundleID, environment: environment, storagePolicy: storagePolicy))
        return Answer(status: 201, channelID: id)
    }

    /// Reads `{"message-storage-policy":0,"push-type":"LiveActivity"}`.
    private func storagePolicy(in request: Request) throws(Refusal) -> Channel.StoragePolicy {
        guard request.bodyByteCount > 0 else { throw Refusal(reason: .payloadEmpty) }
        guard request.isBodyWhole else { throw Refusal(reason: .payloadTooLarge) }
        guard let body = try? parser.parse(request.bodyBytes), body.kind == .object else {
            throw Refusal(reason: .badRequestPayload)
        }
        for (key, _) in body.members where !key.isString("message-storage-policy") && !key.isString("push-type") {
            throw Refusal(reason: .badRequestParams)
        }
        guard let pushType = body["push-type"] else { throw Refusal(reason: .missingPushType) }
        guard pushType.withUTF8(ChannelRequestChecks.isLiveActivity) == true else {
            throw Refusal(reason: .invalidPushType)
        }
        guard let policy = body["message-storage-policy"]?.int.flatMap(Channel.StoragePolicy.init) else {
            throw Refusal(reason: .missingChannelQueueSize)
        }
        return policy
    }

    /// Returns a random channel ID, so that a later channel does not get the ID of a deleted channel.
    private static func makeID(_ random: inout SeededRandom) -> String {
        let bytes = [random.next(), random.next()].flatMap { word in
            stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> UInt64($0)) }
        }
        let digits = Base64URL.encode(bytes).map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }
        return String(digits) + "=="
    }

    private func channel(
        of request: Request, _ bundleID: String, _ environment: APNSEnvironment, in state: SimulatorState
    ) throws(Refusal) -> Channel {
        let id = try ChannelRequestChecks.channelID(of: request)
        guard let channel = state.channel(id: id, bundleID: bundleID, environment: environment) else {
            throw ChannelRequestChecks.unknownChannel(id: id, bundleID, environment, in: state)
        }
        return channel
    }

    private func delete(
        _ request: Request, _ bundleID: String, _ environment: APNSEnvironment, in state: inout SimulatorState
    ) throws(Refusal) -> Answer {
        let channel = try channel(of: request, bundleID, environment, in: state)
        state.removeChannel(id: channel.id, bundleID: bundleID, environment: environment)
        return Answer(status: 204)
    }

    private static func description(of channel: Channel) -> Answer {
        var json = JSONWriter()
        json.beginObject()
        json.member("message-storage-policy", channel.storagePolicy.rawValue)
        json.member("push-type", "LiveActivity")
        json.endObject()
        return Answer(status: 200, body: .json(json.bytes))
    }

    private static func list(_ channels: [Channel]) -> Answer {
        var json = JSONWriter()
        json.beginObject()
        json.beginArray("channels")
        for channel in channels { json.string(channel.id) }
        json.endArray()
        json.endObject()
        return Answer(status: 200, body: .json(json.bytes))
    }
}
