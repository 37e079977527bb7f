import AMQP
import JSON
import TestKit
import Testing

/// The messages that workers have published about requests to users.
struct FanoutMessages {
    /// The results of the push to one device.
    struct Child {
        let token: String
        var results: [ReportedResult] = []
        /// Whether the result completes its request.
        var isOnlyDevice = false
    }

    /// The results of pushes, by request ID, then by push ID.
    private var children: [String: [String: Child]] = [:]
    /// The results without a device, by request.
    private var ownResults: [String: [ReportedResult]] = [:]
    /// The numbers of devices in the reports, by request.
    private var reportedDevices: [String: Set<Int>] = [:]
    private var readCount = 0

    /// Adds the messages that were collected since the previous call.
    ///
    /// - Parameter messages: All messages collected so far.
    mutating func read(_ messages: [IncomingMessage]) throws {
        for message in messages[readCount...] where message.properties.messageID != SystemFixture.resultsMarker {
            let json = try message.json.root
            let id = json["id"]?.string ?? "-"
            if message.properties.type == "push.fanout.v1" {
                reportedDevices[id, default: []].insert(json["devices"]?.int ?? -1)
            } else if let request = json["request_id"]?.string {
                var child = children[request]?[id] ?? Child(token: json["device_token"]?.string ?? "-")
                child.results.append(ReportedResult(json))
                child.isOnlyDevice = child.isOnlyDevice || json["devices"]?.int == 1
                children[request, default: [:]][id] = child
            } else {
                ownResults[id, default: []].append(ReportedResult(json))
            }
        }
        readCount = messages.count
    }

    func children(of request: UserRequest) -> [String: Child] { children[request.id] ?? [:] }

    /// Returns whether all messages about a request have arrived.
    func isComplete(_ request: UserRequest) -> Bool {
        let (children, deviceCount) = (children(of: request), request.tokens.count)
        if !request.isList, deviceCount == 0 { return ownResults[request.id] != nil }
        if !request.isList, deviceCount == 1 { return children.values.contains(where: \.isOnlyDevice) }
        return children.count >= deviceCount && reportedDevices[request.id]?.contains(deviceCount) == true
    }

    /// Checks that results, reports and pushes agree. Each device got the push of its request. A push that was repeated
    /// has a result that is marked as a possible duplicate.
    ///
    /// - Parameters:
    ///   - record: The pushes that the simulator has recorded.
    ///   - allowsRepeats: Whether a push may be repeated.
    /// - Returns: The number of repeated pushes.
    @discardableResult
    func check(_ requests: [UserRequest], _ record: [JSONDocument], allowsRepeats: Bool = false) -> Int {
        // The record has only the first digits of each token.
        var pushedTokens: [String: [Substring]] = [:]
        for push in record where push.root["status"]?.int == 200 {
            pushedTokens[push.root["apns_id"]?.string ?? "-", default: []].append(
                StoreUser.recordedDigits(of: push.root["device_token"]?.string ?? "-"))
        }
        var violations = requests.flatMap { self.violations(of: $0, pushedTokens) }
        let repeated = requests.flatMap { children(of: $0) }.filter { pushedTokens[$0.key]?.count ?? 0 > 1 }
        if !allowsRepeats { violations += repeated.map { "\($0.key) was pushed again" } }
        let unmarked = repeated.filter { !$0.value.results.contains(where: \.isPossibleDuplicate) }
        violations += unmarked.map { "\($0.key) was pushed again without a mark" }
        #expect(violations.isEmpty, "\(violations.count): \(violations.prefix(3))")
        return repeated.count
    }

    private func violations(of request: UserRequest, _ pushedTokens: [String: [Substring]]) -> [String] {
        let children = children(of: request)
        var violations: [String] = []
        func require(_ holds: Bool, _ violation: String) {
            if !holds { violations.append("\(request.id): \(violation)") }
        }
        let results = ownResults[request.id] ?? []
        if !request.isList, request.tokens.count == 0 {
            require(!results.isEmpty, "no result")
            require(results.allSatisfy { $0.error == "registration.no_device" }, "unexpected result \(results)")
        } else {
            require(results.isEmpty, "a result without a device: \(results)")
        }
        let reports = reportedDevices[request.id] ?? []
        let hasReport = request.isList || request.tokens.count > 1
        require(reports == (hasReport ? [request.tokens.count] : []), "reports of \(reports) devices")
        require(
            children.count == request.tokens.count && Set(children.values.map(\.token)) == request.tokens,
            "results of \(children.count) pushes to \(request.tokens.count) devices")
        for (id, child) in children {
            require(
                child.results.allSatisfy { $0.outcome == "accepted" && $0.attempts == ($0.isDuplicate ? 0 : 1) },
                "unexpected results \(child.results)")
            require(
                pushedTokens[id].map { Set($0) == [StoreUser.recordedDigits(of: child.token)] } ?? false,
                "the push \(id) did not reach its device")
        }
        return violations
    }
}

extension SystemFixture {
    /// Waits until all messages about the requests have arrived. The test client must already collect the results.
    @discardableResult
    func fanoutMessages(
        about requests: [UserRequest], within limit: Duration = TestTimeout.duration
    ) async throws -> FanoutMessages {
        var messages = FanoutMessages()
        var missing = requests
        let end = ContinuousClock.now + limit
        while true {
            let collected = await testClient.collected(queue("results"))
            try messages.read(collected)
            missing.removeAll(where: messages.isComplete)
            if missing.isEmpty { return messages }
            let left = ContinuousClock.now.duration(to: end)
            guard left > .zero else {
                throw ProcessError("\(missing.count) of \(requests.count) requests are incomplete: \(missing[0].id)")
            }
            _ = try await testClient.hasCollected(collected.count + 1, from: [queue("results")], within: left)
        }
    }

    /// Returns all messages about requests to users. Call this function after all workers have exited.
    func allFanoutMessages() async throws -> FanoutMessages {
        var messages = FanoutMessages()
        try messages.read(await allMessages(in: "results"))
        return messages
    }
}
