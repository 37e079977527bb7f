import AMQP

/// A request to users, as a producer publishes it.
struct UserRequest {
    let id: String
    let users: [StoreUser]
    /// Whether the request has the member `users` instead of `user`.
    let isList: Bool

    init(_ number: Int, to user: StoreUser) { self.init(number, [user], isList: false) }

    init(_ number: Int, to users: [StoreUser]) { self.init(number, users, isList: true) }

    private init(_ number: Int, _ users: [StoreUser], isList: Bool) {
        (id, self.users, self.isList) = (Sample(number).id, users, isList)
    }

    /// The device tokens of all users.
    var tokens: Set<String> { users.reduce(into: []) { $0.formUnion($1.tokens) } }

    func message(to prefix: String) -> OutgoingMessage {
        let names = users.map { "\"\($0.name)\"" }.joined(separator: ",")
        let target = isList ? "\"users\":[\(names)]" : "\"user\":\(names)"
        let body = """
            {"id":"\(id)","app":"\(StoreUser.app)",\(target),"push_type":"alert","payload":{"aps":{"alert":"Hello"}}}
            """
        return OutgoingMessage(
            exchange: "\(prefix).requests", routingKey: "request", body: Array(body.utf8), messageID: id)
    }
}
