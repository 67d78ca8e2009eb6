//! Text as sessions hold it: English, Chinese, and code. Large logs are filled with it, so that what they compress to
//! says something about real ones. Words repeat as in any text, a few often and most seldom; nothing here is meant to
//! be read.

use crate::seed::Stream;

/// English, the frequent words first.
const ENGLISH: &str = "the of to and a in is it that for was on are as with be at this have from or one had by but not \
what all were we when your can there use an each which how their if will up other about out many then them these so \
some would make like into time has look two more write see number way could first than been call who its now find long \
down day did get come made may part over new sound take only little work know place year live back give most very \
after thing our just name good sentence think say great where help through much before line right too mean old any \
same tell follow came want show also around form three small set put end does another well large must big even such \
because turn here why ask went read need different move try kind hand picture again change off play spell away house \
point page letter answer found study still learn should world high every near add between own below last never start \
city keep eye thought head under story saw left few while along close night real almost let open seem together next \
white begin got walk example ease paper group always music those both mark often until book carry took science eat \
room friend began idea fish mountain stop once base hear horse cut sure watch color face wood main enough plain girl \
usual young ready above ever red list though feel talk bird soon body dog family direct pose leave song measure door \
product black short numeral class wind question happen complete ship area half rock order fire south problem piece \
told knew pass since top whole king space heard best hour better true during hundred five remember step early hold \
west ground interest reach fast verb sing listen six table travel less morning ten simple several vowel toward war \
lay against pattern slow center love person money serve appear road map rain rule govern pull cold notice voice unit \
power town fine certain fly fall lead cry dark machine note wait plan figure star box noun field rest correct able \
pound done beauty drive stood contain front teach week final gave green quick develop ocean warm free minute strong \
special mind behind clear tail produce fact street inch multiply nothing course stay wheel full force blue object \
decide surface deep moon island foot system busy test record boat common gold possible plane stead dry wonder laugh \
thousand ago ran check game shape equate hot miss brought heat snow tire bring yes distant fill east paint language \
among buffer append replay cursor snapshot offset header boundary truncate checksum prefix latency retry queue worker";

/// Chinese, the frequent words first.
const CHINESE: &str = "的 是 在 了 我们 不 有 和 这个 人 会 可以 就 都 说 到 要 也 时候 没有 然后 文件 消息 需要 问题 一个 \
如果 因为 所以 已经 现在 知道 看到 日志 读取 写入 测试 结果 错误 函数 返回 检查 修改 这里 那里 开始 结束 重新 顺序 编号 \
会话 请求 模型 工具 调用 参数 内容 长度 位置 之前 之后 应该 可能 还是 但是 不过 只有 每次 第一 最后 全部 部分 相同 不同 \
今天 明天 城市 茶馆 下雨 河边 老人 孩子 学校 灯光 窗户 桌子 书本 声音 安静 慢慢 走过 回来 记得 忘记 开门 火车 远处 山上";

/// Names that code is made of, the frequent ones first.
const NAMES: &str = "self value index line state event text result count path buffer offset length node key entry item \
header request message session reader writer config source target start end span cursor block record token error name \
kind root parent child depth limit table column row batch frame chunk handle parser scanner printer history surface \
order anchor replay snapshot verdict finding option argument output input stream channel worker queue lock cache";

/// Lines of code; `@` stands for a name, `#` for a number.
const CODE: [&str; 40] = [
    "let @ = @.@();",
    "let mut @ = Vec::with_capacity(#);",
    "if @.len() > # {",
    "}",
    "}",
    "    return Err(@Error::new(@, \"unexpected @\"));",
    "for (@, @) in @.iter().enumerate() {",
    "    @.push(@.clone());",
    "match @.@ {",
    "    Some(@) => @.@(@),",
    "    None => break,",
    "// The @ is kept until the @ has been written.",
    "const @ = await @(@, { @: #, @: true });",
    "export function @(@: string, @: number): @ {",
    "  return @.map((@) => @.@ + #);",
    "import { @, @ } from \"./@.js\";",
    "def @(self, @, @=None):",
    "    return [@ for @ in self.@ if @ is not None]",
    "    raise ValueError(f\"bad @: {@!r}\")",
    "        assert @ == #, \"@ differs\"",
    "src/@/@.rs:#:        let @ = @(&@)?;",
    "src/@.rs:#:    pub fn @(&self) -> usize {",
    "test @::@_of_@ ... ok",
    "test @::tests::@_keeps_@ ... FAILED",
    "warning: unused variable: `@`",
    "  --> src/@/@.rs:#:#",
    "-rw-r--r-- 1 build build  # Aug  6 07:#  @_@.json",
    "{\"@\": \"@-#\", \"@\": [#, #, #], \"@\": null}",
    "[#] INFO @::@: took # ms, # bytes",
    "[#] WARN @::@: no @ for @ #",
    "fn @<'a>(@: &'a [u8], @: usize) -> Option<&'a [u8]> {",
    "    @.get(@..@ + #).filter(|@| !@.is_empty())",
    "impl @ for @ {",
    "pub struct @ {",
    "    @: u64,",
    "    @: BTreeMap<String, @>,",
    "+        let @ = @.@(#);",
    "-        let @ = @.@();",
    "@@ -#,# +#,# @@",
    "",
];

/// Writes text; the same stream gives the same text.
#[derive(Debug)]
pub struct Prose {
    english: Vec<&'static str>,
    chinese: Vec<&'static str>,
    names: Vec<&'static str>,
}

impl Default for Prose {
    fn default() -> Self {
        let words = |text: &'static str| text.split_ascii_whitespace().collect();
        Prose { english: words(ENGLISH), chinese: words(CHINESE), names: words(NAMES) }
    }
}

impl Prose {
    /// One of the words: the product of two draws favours the first ones about as much as language does.
    fn word(words: &[&'static str], stream: &mut Stream) -> &'static str {
        let first = stream.below(words.len() as u64);
        words[stream.below(first + 1) as usize]
    }

    /// Sentences, mostly English, of at least `length` bytes.
    pub fn text(&self, length: usize, stream: &mut Stream) -> String {
        let mut text = String::with_capacity(length + 128);
        while text.len() < length {
            if !text.is_empty() {
                text.push_str(if stream.below(9) == 0 { "\n\n" } else { " " });
            }
            match stream.below(5) {
                0 => self.chinese(&mut text, stream),
                1 => self.mixed(&mut text, stream),
                _ => self.english(&mut text, stream),
            }
        }
        text
    }

    fn english(&self, text: &mut String, stream: &mut Stream) {
        let words = 5 + stream.below(12);
        for place in 0..words {
            let word = Self::word(&self.english, stream);
            if place == 0 {
                text.extend(word.chars().take(1).map(|letter| letter.to_ascii_uppercase()));
                text.push_str(&word[1..]);
                continue;
            }
            text.push_str(if stream.below(10) == 0 { ", " } else { " " });
            text.push_str(word);
        }
        text.push_str(if stream.below(8) == 0 { "?" } else { "." });
    }

    fn chinese(&self, text: &mut String, stream: &mut Stream) {
        for _ in 0..3 + stream.below(8) {
            text.push_str(Self::word(&self.chinese, stream));
            if stream.below(7) == 0 {
                text.push('，');
            }
        }
        text.push('。');
    }

    /// A sentence that names code.
    fn mixed(&self, text: &mut String, stream: &mut Stream) {
        for _ in 0..2 + stream.below(4) {
            text.push_str(Self::word(&self.english, stream));
            text.push(' ');
        }
        text.push('`');
        self.line(CODE[stream.below(20) as usize].trim_start(), text, stream);
        text.push_str("`.");
    }

    /// Lines of code, listings and logs, of at least `length` bytes.
    pub fn code(&self, length: usize, stream: &mut Stream) -> String {
        let mut text = String::with_capacity(length + 128);
        while text.len() < length {
            // What a tool prints stays in one manner for a while.
            let from = stream.below(CODE.len() as u64 - 3) as usize;
            for _ in 0..1 + stream.below(5) {
                let line = CODE[from + stream.below(4) as usize];
                self.line(line, &mut text, stream);
                text.push('\n');
            }
        }
        text
    }

    fn line(&self, line: &str, text: &mut String, stream: &mut Stream) {
        for letter in line.chars() {
            match letter {
                '@' => text.push_str(Self::word(&self.names, stream)),
                '#' => {
                    let bound = 10u64.pow(1 + stream.below(4) as u32);
                    text.push_str(&stream.below(bound).to_string());
                }
                letter => text.push(letter),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    #[test]
    fn text_has_the_length_asked_for_and_follows_from_the_stream() {
        let prose = Prose::default();
        let of = |seed: u64| {
            let mut stream = Seed(seed).stream();
            (prose.text(1_000, &mut stream), prose.code(1_000, &mut stream))
        };
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
        assert!((1_000..1_200).contains(&of(3).0.len()) && (1_000..1_500).contains(&of(3).1.len()));
    }

    #[test]
    fn the_words_fall_off() {
        let words: Vec<&'static str> = ENGLISH.split_ascii_whitespace().collect();
        let mut stream = Seed(4).stream();
        let the = (0..10_000).filter(|_| Prose::word(&words, &mut stream) == "the").count();
        assert!((50..500).contains(&the), "{the}");
    }
}
