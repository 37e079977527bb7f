/// A page of registrations. It includes tombstones, unless the filter names a user.
open class RegistrationPage {
    public enum Filter: Sendable {
        case all
        case app(String)
        /// The live registrations of a user in one app or, if `app` is nil, in all apps of the store.
        case user(String, app: String?)
    }

    public let filter: Filter
    /// The key after which the page begins; nil for the first page.
    public let after: Registration.Key?
    /// Maximum number of rows.
    public let rowsMax: Int

    public init(_ filter: Filter, after: Registration.Key?, rowsMax: Int = 1000) {
        (self.filter, self.after, self.rowsMax) = (filter, after, rowsMax)
    }

    /// Receives the registrations of the page. A page may have few registrations or none although others follow. The
    /// page omits rows of a newer version of Martlet, and a store bounds the rows that it searches at a time.
    ///
    /// - Parameter last: The key after which the next page begins; nil if no page follows.
    open func completed(_ registrations: [Registration], last: Registration.Key?) {
        fatalError("completed must be overridden")
    }

    open func failed(_ fault: StoreFault) { fatalError("failed must be overridden") }
}

/// A page of registrations that an operator edits.
open class EditPage {
    public enum Edit: Sendable, Hashable {
        /// Encrypts rows with the active data key.
        case rekey
        /// Removes the suspicions from the rows of an app.
        case unsuspend(app: String)

        public static func == (left: Self, right: Self) -> Bool {
            switch (left, right) {
            case (.rekey, .rekey): true
            case (.unsuspend(let app), .unsuspend(let other)): app.exact == other.exact
            case (.rekey, _), (.unsuspend, _): false
            }
        }

        public func hash(into hasher: inout Hasher) {
            if case .unsuspend(let app) = self { hasher.combine(app.exact) }
        }
    }

    public let edit: Edit
    /// The key after which the page begins; nil for the first page.
    public let after: Registration.Key?
    /// Maximum number of rows that the page covers.
    public let rowsMax: Int

    public init(_ edit: Edit, after: Registration.Key?, rowsMax: Int = 1000) {
        (self.edit, self.after, self.rowsMax) = (edit, after, rowsMax)
    }

    /// Receives the outcome of the edit.
    ///
    /// - Parameters:
    ///   - last: The last key of the page; nil if no page follows.
    ///   - editedCount: The number of rows that changed.
    ///   - unreadableCount: The number of rows that could not be decrypted.
    open func completed(last: Registration.Key?, editedCount: Int, unreadableCount: Int) {
        fatalError("completed must be overridden")
    }

    open func failed(_ fault: StoreFault) { fatalError("failed must be overridden") }
}

/// The outcome of an ``EditPage``.
public struct EditedPage: Sendable, Hashable {
    /// The last key of the page; nil if no page follows.
    public var last: Registration.Key?
    /// The number of rows that changed.
    public var editedCount: Int
    /// The number of rows that could not be decrypted.
    public var unreadableCount: Int

    public init(last: Registration.Key?, editedCount: Int, unreadableCount: Int) {
        (self.last, self.editedCount, self.unreadableCount) = (last, editedCount, unreadableCount)
    }
}
