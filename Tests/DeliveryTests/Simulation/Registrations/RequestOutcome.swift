import EventLoop
import JSON

/// The results and reports of one request to users, as far as the oracle reads them.
struct RequestOutcome {
    struct Result {
        let at: MonotonicTime
        let isChild: Bool
        let token: String?
        let user: String?
        let outcome: String
        let devices: Int?
        let possibleDuplicate: Bool
        let isDuplicate: Bool
        let errorClass: String?
        let errorCode: String?
    }

    struct Report {
        let at: MonotonicTime
        let devices: Int
        let usersWithoutDevice: Int
        let possibleDuplicate: Bool
    }

    /// The results of the devices.
    private(set) var children: [Result] = []
    /// The results of the request itself.
    private(set) var ownResults: [Result] = []
    private(set) var reports: [Report] = []
    private(set) var unreadable = 0
    /// The number of completions. Equal messages count separately, because two deliveries may have the same outcome in
    /// the same millisecond.
    private(set) var completionCount = 0

    /// Reads messages. Messages with equal bodies count once, except in `completionCount`, because a worker repeats a
    /// publish without a confirm.
    init(_ outcome: RegistrationRecord.Outcome) {
        for message in Self.distinct(outcome.results) {
            guard let result = Result(message) else {
                unreadable += 1
                continue
            }
            if result.isChild { children.append(result) } else { ownResults.append(result) }
        }
        for message in Self.distinct(outcome.reports) {
            if let report = Report(message) { reports.append(report) } else { unreadable += 1 }
        }
        completionCount =
            outcome.reports.count
            + outcome.results.compactMap { Result($0) }.count { !$0.isChild || $0.devices == 1 }
    }

    /// The times of the results of the request, of its reports, and of the results of single devices.
    var completedAt: [MonotonicTime] {
        ownResults.map(\.at) + reports.map(\.at) + children.filter { $0.devices == 1 }.map(\.at)
    }

    private static func distinct(_ messages: [RegistrationRecord.Message]) -> [RegistrationRecord.Message] {
        var seen: Set<[UInt8]> = []
        return messages.filter { seen.insert($0.body).inserted }
    }
}

extension RequestOutcome.Result {
    fileprivate init?(_ message: RegistrationRecord.Message) {
        guard let root = try? JSONDocument(message.body).root, let outcome = root["outcome"]?.string,
            let possibleDuplicate = root["possible_duplicate"]?.bool
        else { return nil }
        let error = root["error"]
        self.init(
            at: message.at, isChild: root["request_id"] != nil, token: root["device_token"]?.string,
            user: root["user"]?.string, outcome: outcome, devices: root["devices"]?.int64.map { Int($0) },
            possibleDuplicate: possibleDuplicate, isDuplicate: root["duplicate"]?.bool ?? false,
            errorClass: error?["class"]?.string, errorCode: error?["code"]?.string)
    }
}

extension RequestOutcome.Report {
    fileprivate init?(_ message: RegistrationRecord.Message) {
        guard let root = try? JSONDocument(message.body).root, let devices = root["devices"]?.int64,
            let users = root["users_without_device"]?.int64, let possibleDuplicate = root["possible_duplicate"]?.bool
        else { return nil }
        self.init(
            at: message.at, devices: Int(devices), usersWithoutDevice: Int(users),
            possibleDuplicate: possibleDuplicate)
    }
}
