/// The members that a command requires and allows. The members depend on the word, the kind and the presence of a
/// token.
struct CommandForm {
    let required: [CommandMember]
    let optional: [CommandMember]

    /// Creates the form of a command.
    ///
    /// - Parameters:
    ///   - kind: The kind of the token; nil if the member is missing, which means `device`.
    ///   - hasToken: Whether the command has a device token.
    init(_ word: RegistrationCommand.Word, kind: TokenKind?, hasToken: Bool) {
        var required: [CommandMember]
        var optional: [CommandMember]
        var namesToken = true
        switch word {
        case .register:
            required = [.app, .user, .deviceToken, .registeredAt]
            optional = [.deviceID, .platform, .expiresAt, .shared]
        case .unregister:
            required = [.app, hasToken ? .deviceToken : .user, .registeredAt]
            optional = hasToken ? [] : [.deviceID]
            namesToken = hasToken
        case .erase:
            required = [.user, .registeredAt]
            optional = [.app]
            namesToken = false
        case .prune, .suspect:
            required = [.app, .deviceToken, .status, .reason, .timestamp]
            optional = []
        }
        if namesToken {
            optional += [.environment, .kind]
            if (kind ?? .device).scopeRule != .none { required.append(.scope) }
        }
        self.required = required
        self.optional = optional + [.command, .id]
    }

    func allows(_ member: CommandMember) -> Bool { required.contains(member) || optional.contains(member) }
}
