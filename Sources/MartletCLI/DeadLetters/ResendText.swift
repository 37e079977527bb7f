/// Text of several commands that publish messages again.
enum ResendText {
    static let filters = """
        A filter is written as for martlet dead-letters: 'code == "TooManyRequests" && app == "com.example.app"'. Fields
        that the messages do not have are null.
        """
}
